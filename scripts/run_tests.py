"""Lints and tests everything, started by `make test` with the environment's own Python.

Every step runs even when an earlier one failed, and one summary closes the output. Tests come in two groups: those
that need neither an engine nor a browser run side by side, the others one at a time, since one engine fills a machine.
Exit code 0: all is well. 1: something failed, or a group ran no test. 130: interrupted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
RESULTS = ROOT / ".cache" / "tests"

LINT_STEPS = (
    ("ruff check", ("ruff", "check", "--no-cache", ".")),
    ("ruff format", ("ruff", "format", "--no-cache", "--check", ".")),
    ("mypy", ("mypy",)),
    ("lint-imports", ("lint-imports", "--no-logo")),
)
WITH_ENGINE = "engine or browser or gpu"
MINUTES = "audit or kills or long"
"""Markers of what has a target of its own in the Makefile."""
TEST_STEPS = (
    (
        "tests without an engine",
        ("-m", f"not ({WITH_ENGINE}) and not ({MINUTES})", "-n", "2", "--dist", "loadgroup"),
    ),
    ("tests with an engine, browser or GPU", ("-m", f"({WITH_ENGINE}) and not ({MINUTES})")),
)


@dataclass(frozen=True)
class StepResult:
    """How one step went; the counts are those of its tests, of which a linter has one: itself."""

    name: str
    seconds: float
    passed: int
    failed: int
    skipped: int


def step_environment() -> dict[str, str]:
    """The caller's environment, less what would let anything from outside .venv take part or call home."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    environment["PATH"] = f"{BIN}{os.pathsep}{environment.get('PATH', os.defpath)}"
    environment["PYTHONNOUSERSITE"] = "1"
    environment |= {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "HF_HUB_OFFLINE": "1"}
    environment["STREAMLIT_BROWSER_GATHER_USAGE_STATS"] = "false"
    return environment


def run(name: str, command: Sequence[str]) -> tuple[int, float]:
    """Runs one step in the repository and returns its exit status and its seconds."""
    print(f"\n=== {name}: {' '.join(command)}", flush=True)
    started = time.monotonic()
    status = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=ROOT, env=step_environment(), stdin=subprocess.DEVNULL
    ).returncode
    return status, time.monotonic() - started


def run_linter(name: str, command: Sequence[str]) -> StepResult:
    """Runs a linter, which counts as one test."""
    status, seconds = run(name, command)
    return StepResult(name, seconds, passed=int(status == 0), failed=int(status != 0), skipped=0)


def run_test_group(name: str, options: Sequence[str], more: Sequence[str]) -> StepResult:
    """Runs one group of tests and counts from pytest's own report; a group without a test is a failure."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    report = RESULTS / f"{name.replace(' ', '-').replace(',', '')}.xml"
    report.unlink(missing_ok=True)
    status, seconds = run(name, ("python", "-m", "pytest", *options, f"--junit-xml={report}", "--durations=8", *more))
    tests = failed = skipped = 0
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            tests += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
    if status != 0 and failed == 0:
        failed = 1
    return StepResult(name, seconds, passed=max(0, tests - failed - skipped), failed=failed, skipped=skipped)


def summarize(results: Sequence[StepResult]) -> int:
    """Prints one line a step and one for all; returns the exit code."""
    print("\n=== summary")
    for result in results:
        verdict = "failed" if result.failed else "ok"
        counts = f"{result.passed} passed, {result.failed} failed, {result.skipped} skipped"
        print(f"{verdict:>6}  {result.name:<38} {counts:<40} {result.seconds:6.0f} s")
    passed, failed, skipped = (
        sum(getattr(result, key) for result in results) for key in ("passed", "failed", "skipped")
    )
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not passed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the steps asked for and returns the exit code."""
    parser = argparse.ArgumentParser(description="Lints and tests everything.")
    parser.add_argument("--lint-only", action="store_true", help="run the linters alone")
    parser.add_argument("pytest_options", nargs="*", help="more options for pytest, after --")
    options = parser.parse_args(arguments)
    try:
        results = [run_linter(name, command) for name, command in LINT_STEPS]
        if not options.lint_only:
            results += [run_test_group(name, group, options.pytest_options) for name, group in TEST_STEPS]
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return summarize(results)


if __name__ == "__main__":
    sys.exit(main())
