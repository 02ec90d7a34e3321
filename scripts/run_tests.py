"""Lints and tests everything, started by `make test` with the environment's own Python.

Every step runs even when an earlier one failed, and one summary closes the output: the slowest tests, seconds by
folder, a line a step. Tests run in two processes side by side, those that start an engine or a browser first.
Exit code 0: all is well. 1: something failed, or a step ran no test (skipped ones do not count). 130: interrupted.
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
    ("mypy", ("mypy", "--num-workers", "2")),
    ("lint-imports", ("lint-imports", "--no-logo")),
)
MYPY_GAVE_UP = 2
"""Exit status of mypy when it did not come to a verdict: one of its workers answered too late, on a busy machine."""
MINUTES = "audit or kills or long"
"""Markers of what has a target of its own in the Makefile."""
TEST_STEPS = (("tests", ("-m", f"not ({MINUTES})", "-n", "2")),)
NUM_SLOWEST = 20


@dataclass(frozen=True)
class StepResult:
    """How one step went; the counts are those of its tests, of which a linter has one: itself."""

    name: str
    seconds: float
    passed: int
    failed: int
    skipped: int


@dataclass(frozen=True)
class TestTime:
    """What one test took, with its fixtures, in seconds."""

    module: str
    name: str
    seconds: float

    @classmethod
    def read(cls, case: ElementTree.Element) -> TestTime:
        """Reads one test from pytest's report."""
        return cls(case.get("classname", ""), case.get("name", ""), float(case.get("time", 0)))

    @property
    def folder(self) -> str:
        """Folder of the test, at most three levels deep."""
        return "/".join(self.module.split(".")[:-1][:3])


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
    if command[0] == "mypy" and status == MYPY_GAVE_UP:
        status, more_seconds = run(f"{name}, in one process", ("mypy",))
        seconds += more_seconds
    return StepResult(name, seconds, passed=int(status == 0), failed=int(status != 0), skipped=0)


def run_test_group(name: str, options: Sequence[str], more: Sequence[str]) -> tuple[StepResult, list[TestTime]]:
    """Runs one group of tests and counts from pytest's own report; a group in which no test passes is a failure."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    report = RESULTS / f"{name.replace(' ', '-').replace(',', '')}.xml"
    report.unlink(missing_ok=True)
    status, seconds = run(name, ("python", "-m", "pytest", *options, f"--junit-xml={report}", *more))
    tests = failed = skipped = 0
    times: list[TestTime] = []
    if report.exists():
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            tests += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", 0))
            times += [TestTime.read(case) for case in suite.iter("testcase")]
    passed = max(0, tests - failed - skipped)
    if failed == 0 and (status != 0 or passed == 0):
        failed = 1
    return StepResult(name, seconds, passed, failed, skipped), times


def say_where_the_time_goes(times: Sequence[TestTime]) -> None:
    """Prints the slowest tests and the seconds of each folder; both with what their fixtures took."""
    print(f"\n=== the {NUM_SLOWEST} slowest tests")
    for each in sorted(times, key=lambda each: -each.seconds)[:NUM_SLOWEST]:
        print(f"{each.seconds:7.1f} s  {each.module}::{each.name}")
    print("\n=== seconds by folder, over all processes")
    folders: dict[str, list[float]] = {}
    for each in times:
        folders.setdefault(each.folder, []).append(each.seconds)
    for folder, seconds in sorted(folders.items(), key=lambda item: -sum(item[1])):
        print(f"{sum(seconds):7.0f} s  {folder} ({len(seconds)} tests)")


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
        for name, group in () if options.lint_only else TEST_STEPS:
            result, times = run_test_group(name, group, options.pytest_options)
            results.append(result)
            say_where_the_time_goes(times)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return summarize(results)


if __name__ == "__main__":
    sys.exit(main())
