"""The virtual environment of a checkout, the notes kept about it, and the lock that guards both."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path


class SetupError(Exception):
    """The environment could not be made; the message is a sentence for the person at the terminal."""


@dataclass(frozen=True)
class Stamp:
    """What a whole environment was made from. Equal stamps mean that nothing is left to do."""

    engine: str
    python: str
    root: str
    digest: str


def say(sentence: str) -> None:
    """Tells the person at the terminal; stdout stays free for data."""
    print(f"set-up: {sentence}", file=sys.stderr, flush=True)


class Environment:
    """The virtual environment of one checkout, and the notes kept about it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.venv = root / ".venv"
        self.python = self.venv / "bin" / "python"
        self.stamp_path = self.venv / ".radixflow-setup.json"
        self.cache = root / ".cache"
        self.lock_path = self.cache / "setup.lock"
        self.in_progress = self.cache / "setup-in-progress"
        self.lock_fd = -1

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Waits until no other set-up of this checkout runs, its pip included, then keeps others waiting."""
        self.cache.mkdir(exist_ok=True)
        self.lock_fd = os.open(self.lock_path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            try:
                fcntl.flock(self.lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("another set-up of this folder is running; waiting for it")
                fcntl.flock(self.lock_fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(self.lock_fd)

    def read_stamp(self) -> Stamp | None:
        """The stamp of a whole environment, or None."""
        try:
            return Stamp(**json.loads(self.stamp_path.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def write_stamp(self, stamp: Stamp) -> None:
        """Written last, and at once or not at all."""
        partial = self.stamp_path.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(stamp), indent=1) + "\n")
        partial.rename(self.stamp_path)

    def left_by_last_try(self) -> str | None:
        """What the last set-up noted, where it did not come through; else None."""
        try:
            return self.in_progress.read_text().strip()
        except OSError:
            return None

    def note(self, state: str | None) -> None:
        """Says what the next set-up has to think of this one if it goes no further."""
        if state is None:
            self.in_progress.unlink(missing_ok=True)
        else:
            self.in_progress.write_text(state + "\n")

    def python_version(self) -> str | None:
        """The version of the environment's own interpreter, or None where it does not run (any more)."""
        result = self.run([self.python, "-I", "-c", "import platform; print(platform.python_version())"], quiet=True)
        return result.stdout.strip() if result is not None and result.returncode == 0 else None

    def run(self, command: Sequence[str | Path], *, quiet: bool = False) -> subprocess.CompletedProcess[str] | None:
        """Runs a command that holds the lock as long as it lives; its output goes to stderr unless quiet."""
        try:
            return subprocess.run(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if quiet else sys.stderr,
                stderr=subprocess.DEVNULL if quiet else None,
                text=True,
                pass_fds=(self.lock_fd,) if self.lock_fd >= 0 else (),
            )
        except OSError:
            return None

    def pip(self, *arguments: str | Path, quiet: bool = False) -> bool:
        """Installs into the environment. Wheels only, so that a machine without a compiler does as well."""
        command: list[str | Path] = [
            self.python,
            "-I",
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--no-input",
            "install",
            "-qq",
        ]
        result = self.run([*command, "--progress-bar", "off", *arguments], quiet=quiet)
        return result is not None and result.returncode == 0
