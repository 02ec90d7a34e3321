"""Runs vLLM's own scheduler tests over vLLM's class and over ours, and says who passes what.

    .venv/bin/python scripts/vllm_conformance/run_tests.py [--policy radix ...] [-- pytest options and paths]

Exit code 1 when one of our classes fails a test that vLLM's own passes, other than by a refusal in words, or when
`check` does not find a recording clean. The table goes to stdout.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fetch import FOLDER, ROOT, provide
from stand_ins import write_hub_cache

POLICIES = ("stock", "radix", "radixflow-immediate")
NEED_WEIGHTS = (
    "test_scheduler_e2e.py",
    "test_reset_prefix_cache_e2e.py",
    "prefix_cache/test_hybrid_prefix_cache_hit_rate.py",
)
"""Tests that start an engine with a downloaded model."""


def environment_for(policy: str, tests: Path, folder: Path, hub: Path) -> dict[str, str]:
    """The variables of one run: the tests and the plugin on the module path, no hub to ask."""
    paths = (tests, ROOT / ".import_root", Path(__file__).resolve().parent)
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_CACHE": str(hub),
        "HF_HUB_OFFLINE": "1",
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_NO_USAGE_STATS": "1",
        "CONFORMANCE_POLICY": policy,
        "CONFORMANCE_REPORT": str(folder / "report.jsonl"),
        "CONFORMANCE_RUNS": str(folder / "runs"),
    }


def run(policy: str, tests: Path, hub: Path, options: Sequence[str]) -> list[dict[str, Any]]:
    """Runs the tests under a policy; returns the lines of the plugin's report."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        ignored = [f"--ignore=tests/v1/core/{name}" for name in NEED_WEIGHTS]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider", "-c", os.devnull]
        paths = [] if any(option.startswith("tests/") for option in options) else ["tests/v1/core"]
        # A few files test parts that this build of the release does not have.
        command.append("--continue-on-collection-errors")
        quiet = ["--rootdir", str(tests), "-W", "ignore", "--tb=no", "--no-header", "--timeout", "120"]
        environment = environment_for(policy, tests, Path(folder), hub)
        subprocess.run([*command, *quiet, *ignored, *options, *paths], cwd=tests, env=environment, stdout=sys.stderr)
        report = Path(folder) / "report.jsonl"
        return [json.loads(line) for line in report.read_text().splitlines()] if report.is_file() else []


def outcomes(lines: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Outcome by test; a test that could not be set up or ended has failed (or was skipped)."""
    return {line["test"]: line["outcome"] for line in lines if "test" in line}


def table(results: dict[str, dict[str, str]], recordings: dict[str, list[dict[str, Any]]]) -> str:
    """One line a class."""
    lines = [f"{'class':<22}{'passed':>8}{'failed':>8}{'refused':>9}{'skipped':>9}{'recorded':>10}{'not clean':>11}"]
    for policy, tests in results.items():
        counts = Counter(tests.values())
        faulty = sum(bool(line["faults"]) for line in recordings[policy])
        numbers = f"{counts['passed']:>8}{counts['failed']:>8}{counts['refused']:>9}{counts['skipped']:>9}"
        lines.append(f"{policy:<22}{numbers}{len(recordings[policy]):>10}{faulty:>11}")
    return "\n".join(lines)


def differences(results: dict[str, dict[str, str]], reports: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Sentences on every test that vLLM's own class passes and one of ours does not, and on recordings not clean."""
    sentences = []
    for policy, tests in results.items():
        words = {line["test"]: line["words"] for line in reports[policy] if "test" in line}
        for test, outcome in tests.items():
            if outcome != "passed" and results.get("stock", {}).get(test) == "passed":
                sentences.append(f"{policy}: {test} {outcome}: {words[test].splitlines()[0] if words[test] else ''}")
        sentences += [
            f"{policy}: recording of {line['recording']} is not clean: {'; '.join(line['faults'])}"
            for line in reports[policy]
            if line.get("faults")
        ]
    return sentences


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs every class, also behind one that failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--policy", action="append", help=f"one of {', '.join(POLICIES)}, or any other; may be repeated"
    )
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    tests = provide()
    if tests is None:
        return 2
    hub = FOLDER / "hub"
    write_hub_cache(hub)
    reports = {policy: run(policy, tests, hub, options.more) for policy in options.policy or POLICIES}
    results = {policy: outcomes(lines) for policy, lines in reports.items()}
    recordings = {policy: [line for line in lines if "recording" in line] for policy, lines in reports.items()}
    sentences = differences(results, reports)
    print("\n".join(sentences))
    print(table(results, recordings))
    return int(any(" refused: " not in sentence for sentence in sentences))


if __name__ == "__main__":
    sys.exit(main())
