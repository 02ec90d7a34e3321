"""What comes from the operating system, installed without a question where the right to do so is at hand."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def as_root(command: Sequence[str]) -> list[str] | None:
    """The command as root without a question, or None where that is not possible."""
    words = ["env", "DEBIAN_FRONTEND=noninteractive", *command]
    if os.geteuid() == 0:
        return words
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", *words]
    return None


def install(*names: str) -> bool:
    """Installs Debian packages; False where there is no apt-get, no right to use it, or it fails."""
    options = ["-qq", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2"]
    update, command = as_root(["apt-get", "-qq", "update"]), as_root(["apt-get", "install", *options, *names])
    if not shutil.which("apt-get") or update is None or command is None:
        return False
    # A failed update may still leave lists that are good enough.
    subprocess.run(update, stdin=subprocess.DEVNULL, capture_output=True)
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def has_library(name: str) -> bool:
    """Whether the dynamic linker finds a shared library, such as ``libnuma.so.1``."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def find_browser() -> str | None:
    """The browser that the tests drive, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)
