"""Makes the repository's virtual environment; started by scripts/setup, uses the standard library alone.

Safe to interrupt and to start twice at once: one lock is held by this process and by every pip that it starts, a
half-made environment is recognised by a marker and made anew, and a stamp written last says what a whole one holds.
Words go to stderr. Exit code 0: the environment is whole. 1: it could not be made. 2: bad usage. 130: interrupted.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

# Isolated from the caller's module path, Python does not look beside this file by itself.
sys.path.insert(0, str(Path(__file__).resolve().parent))
import system_packages
from environment import Environment, SetupError, Stamp, say
from installation import ENGINE_GROUPS, install_project, install_requirements, make_venv, wanted_stamp

ROOT = Path(__file__).resolve().parent.parent
# Measured: what the environment takes on disk, rounded up, with room for the wheels while they are unpacked.
NEEDED_BYTES = {"cpu": 6 << 30, "gpu": 20 << 30, "none": 2 << 30}
INTERRUPTED, FAILED = "interrupted", "failed"


def has_nvidia_gpu() -> bool:
    """Whether nvidia-smi names a device."""
    try:
        result = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0 and "GPU" in result.stdout


def check_free_space(root: Path, engine: str) -> None:
    """Says early what a full disk would say late."""
    free = shutil.disk_usage(root).free
    if free < NEEDED_BYTES[engine]:
        needed, left = NEEDED_BYTES[engine] / 2**30, free / 2**30
        raise SetupError(f"the environment needs about {needed:.0f} GiB of disk, and {root} has {left:.1f} GiB left")


def choose_engine(asked: str, stamp: Stamp | None) -> str:
    """The engine asked for; with `auto` the one that the environment was made for, else what the machine can run."""
    if asked != "auto":
        return asked
    if stamp is not None and stamp.engine in ENGINE_GROUPS:
        return stamp.engine
    return "gpu" if has_nvidia_gpu() else "cpu"


def must_make_anew(environment: Environment, engine: str, python: str | None) -> bool:
    """Whether .venv must be made from nothing: it is missing, half made, moved, or made for something else.

    Raises SetupError for a .venv that is not ours, rather than deleting it.
    """
    stamp, left = environment.read_stamp(), environment.left_by_last_try()
    if not environment.venv.exists():
        return True
    if left == INTERRUPTED:
        say("the last set-up was interrupted; making .venv anew")
        return True
    if stamp is None and left is None:
        raise SetupError(f"{environment.venv} was not made by this set-up; move it away, then run this again")
    if stamp is None:
        # A failed installation goes on in place, unless it was one of another engine, which owns the same files.
        return python is None or left != f"{FAILED} {engine}"
    return (stamp.engine, stamp.root, stamp.python) != (engine, str(environment.root), python)


def make_whole(environment: Environment, asked_engine: str, python: str | None = None) -> bool:
    """Brings .venv to what requirements/ says. Returns whether there was anything to do.

    python: the version that .venv must have, or None for whatever it has.
    """
    stamp, left, version = environment.read_stamp(), environment.left_by_last_try(), environment.python_version()
    engine = choose_engine(asked_engine, stamp)
    if left is None and stamp is not None and stamp == wanted_stamp(environment.root, engine, python or version or ""):
        return False
    anew = must_make_anew(environment, engine, python or version)
    check_free_space(environment.root, engine)
    environment.note(INTERRUPTED)
    environment.stamp_path.unlink(missing_ok=True)
    if anew:
        shutil.rmtree(environment.venv, ignore_errors=True)
        make_venv(environment)
    try:
        install_requirements(environment, engine)
        install_project(environment, engine)
    except SetupError:
        # pip undoes a failed installation itself: the next try goes on from here.
        environment.note(f"{FAILED} {engine}")
        raise
    environment.write_stamp(wanted_stamp(environment.root, engine, environment.python_version() or ""))
    environment.note(None)
    return True


def provide_browser() -> None:
    """Installs Debian's Chromium, and what drives it, where that needs no question; says how otherwise.

    The tests need it; the app itself does not.
    """
    missing = [] if system_packages.find_browser() else ["chromium", "fonts-liberation"]
    # The driver that Playwright's wheel brings is linked to it.
    missing += [] if system_packages.has_library("libatomic.so.1") else ["libatomic1"]
    if not missing:
        return
    say(f"the browser tests need {', '.join(missing)}; installing Debian's")
    if not system_packages.install(*missing) or system_packages.find_browser() is None:
        say(f"that could not be done here. The browser tests need: apt-get install {' '.join(missing)}")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line of scripts/setup."""
    parser = argparse.ArgumentParser(prog="scripts/setup", description="Makes .venv from the pinned requirements.")
    parser.add_argument(
        "--engine",
        choices=["auto", *ENGINE_GROUPS],
        default=os.environ.get("RADIXFLOW_ENGINE", "auto"),
        help="vLLM for an NVIDIA GPU, vLLM for CPUs, or none (to look at runs only); default: what the machine has",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="do not look for the Chromium that browser tests need"
    )
    parser.add_argument("--rebuild-for-this-python", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.engine not in ("auto", *ENGINE_GROUPS):
        parser.error(f"RADIXFLOW_ENGINE={options.engine} is none of auto, {', '.join(ENGINE_GROUPS)}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the set-up and returns its exit code."""
    options = parse_arguments(arguments)
    environment = Environment(ROOT)
    started = time.monotonic()
    wanted_python = platform.python_version() if options.rebuild_for_this_python else None
    try:
        with environment.locked():
            if make_whole(environment, options.engine, wanted_python):
                say(f".venv is ready after {time.monotonic() - started:.0f} s")
            if not options.no_browser:
                provide_browser()
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted; run it again to make .venv anew")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
