"""One command for a machine with a CUDA device: records a hybrid without weights, checks it, keeps a small run.

    python -m tests.gpu.record_on_cuda --output FOLDER

Records ``stock``, ``radix`` and ``radixflow`` over one stream, holds the intervals on the device's clock against the
host's, the update and each other, prints what it found, and leaves the runs in FOLDER, small enough for
``sample_runs/``. Ends within five minutes or gives up. Exit code 0 when nothing is wrong, 1 when something is, and that
of ``radixflow-collect`` when it could not record, such as 3 without a CUDA device.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from tests.gpu.dummy_models import MODELS, write_model
from tests.gpu.span_checks import faults_of_run

IMPORT_ROOT = Path(__file__).parents[2] / ".import_root"
POLICIES = ("stock", "radix", "radixflow")
LIMIT_SECONDS = 300
EXPERIMENT, STREAM = "cuda", "shared-documents"
_STREAM_WORDS = ["--num-groups", "16", "--rate", "40", "--regime", "reuse", "--max-output-tokens", "4"]
_CUDA_WORDS = [
    "--attention-backend",
    "TRITON_ATTN",
    "--gdn-prefill-backend",
    "triton",
    "--gpu-memory-utilization",
    "0.5",
]
_VARIABLES = {
    "VLLM_USE_FLASHINFER_SAMPLER": "0",  # flashinfer compiles at its first use, for minutes
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB, with --device cpu
    "OMP_WAIT_POLICY": "PASSIVE",
}


def command(model: Path, name: str, output: Path, device: str, is_compiled: bool) -> list[str]:
    """The command line that records.

    Args:
        model: Folder of the model's configuration.
        name: Its name in ``MODELS``.
        output: Where the runs go.
        device: ``cuda``, or ``cpu`` to try the command without one.
        is_compiled: Whether vLLM compiles the model and captures CUDA graphs.
    """
    words = ["--model", str(model), "--policy", *POLICIES, "--output", str(output), "--device", device, "--force"]
    words += ["--experiment", EXPERIMENT, "--stream", STREAM, *_STREAM_WORDS, "--probe", "full"]
    words += [
        "--load-format",
        "dummy",
        "--skip-tokenizer-init",
        "--mamba-cache-mode",
        "align",
        "--max-model-len",
        "16384",
    ]
    words += ["--max-num-seqs", "32", "--max-num-batched-tokens", "4096", "--enable-prefix-caching", *MODELS[name][1]]
    if device == "cuda":
        words += _CUDA_WORDS
    if not is_compiled:
        words.append("--enforce-eager")
    return [sys.executable, "-m", "radixflow.collector.cli", *words]


def main(words: list[str] | None = None) -> int:
    """Record, check and report; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True, help="where the runs go")
    parser.add_argument("--model", choices=MODELS, default="qwen3-next", help="shape of the model (%(default)s)")
    parser.add_argument("--compiled", action="store_true", help="let vLLM compile and capture graphs; takes minutes")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu tries the command without CUDA")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="radixflow-gpu-") as folder:
        model = write_model(Path(folder), options.model)
        line = command(model, options.model, options.output, options.device, options.compiled)
        variables = os.environ | _VARIABLES | {"PYTHONPATH": str(IMPORT_ROOT)}
        try:
            recorded = subprocess.run(line, env=variables, timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"Gave up: it was not recorded within {LIMIT_SECONDS} seconds.", file=sys.stderr)
            return 1
    if recorded.returncode:
        return recorded.returncode
    runs = [options.output / EXPERIMENT / STREAM / policy for policy in POLICIES]
    return int(bool(report(runs, options.device == "cuda")))


def report(runs: list[Path], is_on_device: bool) -> list[str]:
    """Print the faults and the times of the recorded arms, and return the faults.

    Args:
        runs: The runs of ``POLICIES``.
        is_on_device: Whether there must be intervals on a device's clock.
    """
    found = [f"{path.name}: {fault.where}: {fault.sentence}" for path in runs for fault in check_run(path)]
    for path in runs[1:] if is_on_device else ():
        found += [f"{path.name}: {sentence}" for sentence in faults_of_run(path)]
    for path in runs:
        connection = open_runs([path])
        times = connection.execute(
            "SELECT component, clock, count(*), median(end_ns - start_ns) / 1e3 FROM spans GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        connection.close()
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        print(f"{path.name}: {size / 1e3:.0f} kB")
        for component, clock, count, median_us in times:
            print(f"  {component:10s} {clock:7s} {count:6d} intervals, median {median_us:10.1f} us")
    print("\n".join(found) or "Nothing is wrong.")
    return found


if __name__ == "__main__":
    sys.exit(main())
