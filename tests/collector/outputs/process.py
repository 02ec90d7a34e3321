"""Starts the audit in a process of its own, with the environment that one in-process engine after another needs."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.collector.outputs.findings import Finding, read_findings

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1",
    # Threads that spin between tiny layers make a round of milliseconds last hundreds of them.
    "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE",
    "PYTHONPATH": os.pathsep.join([str(ROOT / ".import_root"), str(ROOT)]),
}  # fmt: skip


def run_audit(file: Path, first_seed: int, num_seeds: int, precise: Iterable[str], quiet: bool = True) -> list[Finding]:
    """Audit every policy in every geometry.

    Args:
        file: Where the findings are kept.
        first_seed: Seed of the first stream.
        num_seeds: Streams a geometry.
        precise: Policies to run with precise marks, too.
        quiet: Keep back what the process says, unless it fails.
    """
    command = [sys.executable, "-m", "tests.collector.outputs.audit", str(file), str(first_seed), str(num_seeds)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "HF_", "OMP_"))}
    ended = subprocess.run(
        [*command, *precise], env=kept | ENVIRONMENT, cwd=ROOT, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.PIPE if quiet else None,
    )  # fmt: skip
    assert ended.returncode == 0, f"exit code {ended.returncode}\n{ended.stderr[-4000:]}"
    return read_findings(file)
