"""Makes .venvs/vllm-<version>/ for each release of versions.py: its Python files, and nothing that is compiled.

    .venv/bin/python scripts/vllm_versions/setup.py [--version 0.29.0 ...]

Not a whole environment. A scheduler without a model needs neither kernels nor another torch, so the files of a release
are laid over the environment of the pinned one by the module path (50 to 180 MB each instead of several GB). No engine
starts that way. Safe to interrupt and to repeat: a folder gets its name when it is whole. Words go to stderr.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from versions import ROOT, Release, parse_releases

COMPILED = (".so",)


def say(sentence: str) -> None:
    """Tells the person at the terminal."""
    print(f"vllm-versions: {sentence}", file=sys.stderr, flush=True)


def download(release: Release, folder: Path) -> Path | None:
    """Fetches the wheel without its dependencies; None where pip could not, its message on stderr."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download", "-qq"]
    options = ["--progress-bar", "off", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    if subprocess.run([*command, *options, release.requirement], stdout=sys.stderr).returncode != 0:
        return None
    return next(folder.glob("*.whl"))


def unpack(wheel: Path, folder: Path) -> None:
    """Unpacks all but the compiled files."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if not name.endswith(COMPILED)])


def provide(release: Release) -> bool:
    """Makes the folder of one release, if it is not there."""
    if release.folder.is_dir():
        return True
    say(f"fetching {release.requirement}")
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=release.folder.parent) as partial:
        wheel = download(release, Path(partial))
        if wheel is None:
            say(f"{release.requirement} could not be fetched; pip's message is above")
            return False
        files = Path(partial) / "files"
        unpack(wheel, files)
        files.rename(release.folder)
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the set-up; exit code 1 when a release could not be fetched."""
    releases, _ = parse_releases(__doc__.splitlines()[0], arguments)
    folder = ROOT / ".venvs"
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second set-up waits
        for left_behind in folder.glob(".partial-*"):
            shutil.rmtree(left_behind, ignore_errors=True)
        made = [provide(release) for release in releases]
    return 0 if all(made) else 1


if __name__ == "__main__":
    sys.exit(main())
