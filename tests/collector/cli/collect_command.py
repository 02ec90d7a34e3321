"""Runs ``radixflow-collect`` as a user does: in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

IMPORT_ROOT = Path(__file__).parents[3] / ".import_root"
COMMAND = [sys.executable, "-m", "radixflow.collector.cli"]


def environment(**changes: str) -> dict[str, str]:
    """The environment of the tests without what a test session or a user's shell may have set for vLLM."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "HF_", "OMP_"))}
    return kept | {"PYTHONPATH": str(IMPORT_ROOT)} | changes


def collect(*words: str | Path, timeout: float = 240, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end.

    Args:
        words: Words of the command line.
        timeout: Seconds after which it is killed.
        changes: Environment variables to set.
    """
    return subprocess.run(
        [*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=timeout, env=environment(**changes),
    )  # fmt: skip


def assert_one_sentence(stderr: str) -> None:
    """Check that a failure is one line for a person: no traceback, no usage, no chatter of the engine."""
    assert stderr.startswith("radixflow-collect: ")
    assert stderr.endswith((".\n", "!\n", "?\n"))
    assert stderr.count("\n") == 1
    assert "Traceback" not in stderr
