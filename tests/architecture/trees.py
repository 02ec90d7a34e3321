"""Copies of the source tree, and interpreters that see one tree alone.

A control arm plants a fault in a copy and expects the checker to find it. An interpreter started with -S follows no
.pth file, so that an editable install of this or another checkout cannot stand in for the tree under test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "collector", "schema")
# A call to this line first: the tree's own packages before anything installed.
_PRELUDE = "import sys; sys.path[1:1] = [{import_root!r}, {purelib!r}]; "


def tracked_files(*patterns: str) -> list[Path]:
    """Files of the checkout that git knows or would add, relative to ROOT, those deleted since left out.

    In an unpacked source distribution, which git does not know, these are all files that git would add.
    """
    command = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    if (ROOT / ".git").exists():
        names = _git(*command)
    else:
        with TemporaryDirectory() as empty:
            _git("init", "--quiet", "--bare", empty)
            names = _git(f"--git-dir={empty}", f"--work-tree={ROOT}", *command)
    paths = sorted({Path(name) for name in names.split("\0") if name})
    return [path for path in paths if (ROOT / path).is_file() and not (ROOT / path).is_symlink()]


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True, text=True).stdout


def copy_checkout(target: Path) -> Path:
    """Copies every file of the checkout that git knows or would add, and the links of .import_root, into target."""
    for path in tracked_files():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, target / path)
    _link_packages(target)
    return target


def _link_packages(tree: Path) -> None:
    (tree / ".import_root" / "radixflow").mkdir(parents=True)
    for name in PACKAGES:
        (tree / ".import_root" / "radixflow" / name).symlink_to(Path("..") / ".." / name)


def copy_tree(target: Path) -> Path:
    """Copies what a fresh clone would hold of the packages, and what packaging and linting read, into target."""
    for name in PACKAGES:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, target / name, ignore=ignore)
    _link_packages(target)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    (target / "tests").mkdir()
    return target


def module_names(tree: Path, package: str) -> list[str]:
    """Dotted names of every module below one package folder of a tree."""
    names = []
    for path in sorted((tree / package).rglob("*.py")):
        parts = path.relative_to(tree).with_suffix("").parts
        names.append(".".join(["radixflow", *(parts[:-1] if parts[-1] == "__init__" else parts)]))
    return names


def run_in_tree(tree: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python code that sees this tree's packages and the installed ones, and no editable install."""
    prelude = _PRELUDE.format(import_root=str(tree / ".import_root"), purelib=sysconfig.get_paths()["purelib"])
    return run([sys.executable, "-S", "-c", prelude + code, *arguments], cwd=tree)


def run(command: Sequence[str | Path], *, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with a small, known environment and keeps what it said."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | {"PYTHONNOUSERSITE": "1", "PYTHONDONTWRITEBYTECODE": "1"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
