"""Checks before an engine starts: whatever is already known to fail is reported at once."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.manifest import is_run
from radixflow.schema.run_files.run_directory import require_at_rest


def require_room(run_paths: Sequence[Path], is_forced: bool) -> None:
    """Make sure that every run can be written.

    Args:
        run_paths: The runs that will be written; nothing is left behind.
        is_forced: Whether runs that are already there will be replaced.

    Raises:
        RadixflowError: a run or another non-empty folder is in the way, or the place cannot be written.
    """
    for path in run_paths:
        with _saying_what_cannot_be_written(path.parent):
            _require_free(path, is_forced)
            _try_to_write(path.parent)


def require_writable(folder: Path) -> None:
    """Make sure that a folder can be made and written; nothing is left behind.

    Raises:
        RadixflowError: it cannot (exit code OUTPUT).
    """
    with _saying_what_cannot_be_written(folder):
        _try_to_write(folder)


@contextmanager
def _saying_what_cannot_be_written(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        sentence = f"Cannot write to {folder}: {error.strerror or error}."
        raise RadixflowError(sentence, ExitCode.OUTPUT) from error


def _require_free(path: Path, is_forced: bool) -> None:
    if path.is_dir() and any(path.iterdir()):
        if not is_run(path):
            raise RadixflowError(f"{path} exists and is not a run; it is left alone.", ExitCode.OUTPUT)
        if not is_forced:
            raise RadixflowError(f"A run exists already in {path}; --force replaces it.", ExitCode.OUTPUT)
        require_at_rest(path)


def _try_to_write(folder: Path) -> None:
    """Write a file and take it away again, with the folders that had to be made for it."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".radixflow-"):
            pass
    finally:
        for made in missing:
            with suppress(OSError):
                made.rmdir()
