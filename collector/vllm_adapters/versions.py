"""Which vLLM versions the adapters were tested with. Imports nothing of vLLM."""

from __future__ import annotations

import re

TESTED = "0.26 to 0.33"
FIRST_TESTED, LAST_TESTED = (0, 26), (0, 33)
ALLOW_UNTESTED = "RADIXFLOW_ALLOW_UNTESTED_VLLM"
"""Environment variable that lets an untested version through; engine processes inherit it."""


def version_pair(version: str) -> tuple[int, int]:
    """Major and minor number of a version text such as ``0.32.0`` or ``0.32.0+cpu``; (0, 0) if it has none."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found is not None else (0, 0)


def is_tested(version: str) -> bool:
    """Whether a version lies in the tested range."""
    return FIRST_TESTED <= version_pair(version) <= LAST_TESTED
