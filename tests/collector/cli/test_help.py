"""The help is quick, needs no vLLM, and names every policy, workload and model."""

import subprocess
import sys
import time

from radixflow.collector.models.shipped_models import SHIPPED_MODELS
from radixflow.collector.policies.catalog import ALIASES
from radixflow.collector.workloads.catalog import WORKLOADS
from tests.collector.cli.collect_command import collect, environment

HEAVY = ("vllm", "torch", "transformers", "duckdb", "pyarrow", "streamlit", "plotly")


def test_the_help_names_everything_and_is_quick() -> None:
    start = time.monotonic()
    result = collect("--help")
    assert time.monotonic() - start < 5  # a fifth of a second; importing vLLM alone takes longer than five
    assert result.returncode == 0
    assert all(name in result.stdout for name in [*ALIASES, *WORKLOADS, *SHIPPED_MODELS, "check"])


def test_the_help_imports_nothing_heavy() -> None:
    code = (
        "import contextlib, sys\nfrom radixflow.collector.cli.__main__ import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
    assert result.stderr.strip() == "[]"
