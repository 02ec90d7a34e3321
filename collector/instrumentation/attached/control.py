"""The control file of a recorded server: one word that says whether to record; anybody writes, the engine reads."""

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
    """A control file as its reader sees it: writing the same word again counts.

    Args:
        path: The file; it need not be there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int] | None = None

    def tell(self, word: str) -> None:
        """Say what is the case, without hearing it as a wish; a wish that waits is left, and a disk that refuses."""
        if self._version() == self._seen:
            with suppress(OSError):
                write_word(self.path, word)
            self._seen = self._version()

    def forget(self) -> None:
        """Take what is there for heard: it is of an earlier server."""
        self._seen = self._version()

    def new_word(self) -> str | None:
        """The word that was written since the last look, None without one; other text is handed on as it is."""
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
