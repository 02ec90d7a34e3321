"""The folder in which shipped models are kept, each under a digest of everything that it was made from."""

import hashlib
import json
import os
import shutil
import tempfile
from importlib import metadata
from pathlib import Path

import platformdirs

from radixflow.collector.models import random_weights, tokenizer
from radixflow.collector.models.shipped_models import ShippedModel
from radixflow.schema.errors import ExitCode, RadixflowError

CACHE_VARIABLE = "RADIXFLOW_CACHE"


def cache_folder() -> Path:
    """``$RADIXFLOW_CACHE``, or ``radixflow`` in the user's cache folder."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    return platformdirs.user_cache_path("radixflow")


def model_digest(model: ShippedModel) -> str:
    """Digest of the configuration, of the code that makes the model and of the libraries it uses.

    A change of any of them makes another folder, so a stale model is never used.
    """
    digest = hashlib.sha256(json.dumps(model.config, sort_keys=True).encode())
    for source in (random_weights.__file__, tokenizer.__file__, __file__):
        digest.update(Path(source).read_bytes())
    for library in ("torch", "transformers", "tokenizers", "safetensors"):
        digest.update(f"{library} {_version(library)}\n".encode())
    return digest.hexdigest()


def shipped_model_folder(model: ShippedModel) -> Path:
    """The folder of a shipped model, made now if it is not there yet.

    Safe beside other processes that make the same model: each builds in a folder of its own, and the first rename wins.

    Raises:
        RadixflowError: torch or transformers missing, or the cache folder cannot be written.
    """
    folder = cache_folder() / "models" / f"{model.name}-{model_digest(model)[:16]}"
    if not (folder / "config.json").is_file():
        try:
            _build(model, folder)
        except ImportError as error:
            raise RadixflowError(
                f"Making {model.name} needs the Python package {error.name}, which is not installed.",
                ExitCode.ENVIRONMENT,
            ) from error
        except OSError as error:
            raise RadixflowError(
                f"The model {model.name} cannot be written to {folder.parent}: {error.strerror or error}"
                f" (${CACHE_VARIABLE} chooses another folder).",
                ExitCode.OUTPUT,
            ) from error
    return folder


def _build(model: ShippedModel, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{model.name}-", dir=folder.parent))
    try:
        random_weights.write_weights(building, model.config)
        tokenizer.write_tokenizer(building, int(str(model.config["vocab_size"])))
        building.chmod(0o755)  # mkdtemp makes it private; a cache may be shared
        _publish(building, folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _publish(building: Path, folder: Path) -> None:
    try:
        building.rename(folder)
    except OSError:
        if not (folder / "config.json").is_file():  # otherwise another process was faster with the same content
            raise


def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "missing"
