"""A locked file for as long as a writer lives: it says that it is at work, and keeps room for its last words."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

HOLD_PREFIX = ".held-"
ROOM_BYTES = 16 * 1024
"""Bytes of disk space that a writer reserves, to be freed for its last status file when the disk is full."""
RESERVED_NAME = ".reserved"
RESERVED_BYTES = 64 * 1024
"""Bytes of disk space that a run reserves for its last manifest."""


class WriterHold:
    """A locked file that says that the process of one writer lives; the kernel unlocks it however the process ends.

    Args:
        folder: The run's folder of writers; it must exist.
        writer_name: Name of the writer.

    Raises:
        BlockingIOError: Another process holds the run under this name.
        OSError: The file cannot be made or written.
    """

    def __init__(self, folder: Path, writer_name: str) -> None:
        self._path = folder / f"{HOLD_PREFIX}{writer_name}"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _fill(self._file, ROOM_BYTES)
        except OSError:
            os.close(self._file)
            raise

    def free_room(self) -> None:
        """Give the reserved room back to the disk: the status of the writer needs it now."""
        with suppress(OSError):
            os.ftruncate(self._file, 0)

    def end(self) -> None:
        """Unlock and remove the file. Calling it again is harmless."""
        if self._file >= 0:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
        self.forget()

    def forget(self) -> None:
        """Close the file without taking it away: in a forked child, whose parent goes on holding it."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def held_writers(folder: Path) -> list[str]:
    """Return the names of the writers in a folder whose processes are alive on this machine."""
    return [path.name.removeprefix(HOLD_PREFIX) for path in hold_files(folder) if _is_locked(path)]


def hold_files(folder: Path) -> list[Path]:
    """Return every hold file in a folder of writers, including those that dead processes left behind."""
    return sorted(folder.glob(f"{HOLD_PREFIX}*"))


def reserve_room(run_path: Path) -> None:
    """Reserve disk space, so that the last manifest of a run can be written even when the disk is full.

    Raises:
        OSError: There is no such room now, or the folder cannot be written.
    """
    file = os.open(run_path / RESERVED_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _fill(file, RESERVED_BYTES)
    finally:
        os.close(file)


def free_room(run_path: Path) -> None:
    """Give back what :func:`reserve_room` took; harmless where nothing is reserved."""
    with suppress(OSError):
        (run_path / RESERVED_NAME).unlink(missing_ok=True)


def _is_locked(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(file)
    return False


def _fill(file: int, num_bytes: int) -> None:
    # Random bytes: a file system that compresses would keep no room for zeros.
    room = os.urandom(num_bytes)
    if os.pwrite(file, room, 0) != num_bytes:
        raise OSError(28, os.strerror(28))
