"""Small disks and folders that cannot be written, for tests on machines that let us mount."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def mount(*words: str | Path) -> bool:
    """Whether this machine let us mount."""
    try:
        return subprocess.run(["mount", *map(str, words)], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """A disk of its own at a folder; False where this machine does not allow it."""
    is_mounted = mount("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder)
    try:
        yield is_mounted
    finally:
        if is_mounted:
            unmount(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[bool]:
    """A folder that nobody may write, not even root; False where this machine does not allow it."""
    is_mounted = mount("--bind", folder, folder)
    try:
        yield is_mounted and mount("-o", "remount,ro,bind", folder)
    finally:
        if is_mounted:
            unmount(folder)


def unmount(folder: Path) -> None:
    """Take a mount away, also where somebody still looks into it."""
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Let somebody else have what is left of a disk."""
    with open(folder / "filler", "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\1" * 4096)


def skip_without_mounts(is_mounted: bool, what: str) -> None:
    """Skip a test with a sentence."""
    if not is_mounted:
        pytest.skip(f"This machine does not let us mount {what}.")
