"""The control file of a recorded server: it holds one word that tells the engine process whether to record."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path

from radixflow.schema.run_files.atomic_files import TEMPORARY_PREFIX

RECORD, STOP = "record", "stop"
WORDS = (RECORD, STOP)


def write_word(path: Path, word: str) -> None:
    """Replace the word in a control file.

    Raises:
        OSError: The folder is gone, full or not writable.
    """
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}-{path.name}")  # others may write at this moment
    try:
        temporary.write_text(word + "\n", encoding="utf-8")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class ControlFile:
    """The control file as the engine process reads it; a word that is written again counts as a new word.

    Args:
        path: The file; it need not be there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int] | None = None

    def tell(self, word: str) -> None:
        """Write the present state into the file, without taking it for a request of somebody else.

        A request that has not been read yet is not overwritten, and a disk that refuses the write is ignored.
        """
        if self._version() == self._seen:
            with suppress(OSError):
                write_word(self.path, word)
            self._seen = self._version()

    def forget(self) -> None:
        """Ignore the word that the file holds now, since it was meant for an earlier server."""
        self._seen = self._version()

    def new_word(self) -> str | None:
        """Return the word written since the last call, or None if there is none; unknown text is returned as it is."""
        version = self._version()
        if version is None or version == self._seen:
            return None
        self._seen = version
        try:
            return self.path.read_text(encoding="utf-8", errors="replace")[:100].strip()
        except OSError:
            return None

    def _version(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns
