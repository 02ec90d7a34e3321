"""Finds the model that a name on the command line means: shipped, in a local folder, or on the Hugging Face hub."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from radixflow.collector.models.model_cache import shipped_model_folder
from radixflow.collector.models.shipped_models import SHIPPED_MODELS, ShippedModel
from radixflow.schema.errors import RadixflowError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_OFFLINE_VARIABLES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that was asked for and can be looked for."""

    name: str
    """Name for people and manifests; never a path of this machine."""
    location: str
    """What vLLM is given: a folder or a hub id. Empty while a shipped model is not made yet."""
    shipped: ShippedModel | None = None
    """The shipped model, if it is one."""

    def prepare(self) -> str:
        """What vLLM is given; makes a shipped model if it is not there yet."""
        return str(shipped_model_folder(self.shipped)) if self.shipped else self.location


def resolve_model(name: str) -> ModelChoice:
    """Find a shipped model, a local folder or a Hugging Face id by its name, in this order; starts no download.

    Raises:
        RadixflowError: the name is none of them.
    """
    if name in SHIPPED_MODELS:
        return ModelChoice(name, "", SHIPPED_MODELS[name])
    folder = _existing_folder(name)
    if folder is not None:
        if not (folder / "config.json").is_file():
            raise RadixflowError(f"The folder {name} holds no model: it has no config.json.")
        return ModelChoice(folder.resolve().name, str(folder.resolve()))
    if _looks_like_a_path(name):
        raise RadixflowError(f"There is no model folder {name}.")
    if not _HUB_ID.fullmatch(name):
        raise RadixflowError(
            f"There is no model {name or repr(name)}: it is no shipped model ({', '.join(SHIPPED_MODELS)}), no folder"
            " and no Hugging Face id (owner/name)."
        )
    if _is_offline() and not _is_in_hub_cache(name):
        raise RadixflowError(
            f"The model {name} is not in the local Hugging Face cache, and downloads are switched off."
        )
    return ModelChoice(name, name)


def _existing_folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
        return folder if name and folder.is_dir() else None
    except (OSError, RuntimeError):  # no file can have this name; no such user behind the ~
        return None


def _looks_like_a_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or name.endswith("/")


def _is_offline() -> bool:
    return any(os.environ.get(variable, "").upper() in {"1", "ON", "YES", "TRUE"} for variable in _OFFLINE_VARIABLES)


def _is_in_hub_cache(name: str) -> bool:
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    return (hub / f"models--{name.replace('/', '--')}").is_dir()
