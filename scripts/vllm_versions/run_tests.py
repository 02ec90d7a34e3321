"""Runs the scheduler-level tests over every release of versions.py, with the real scheduler of that release.

    .venv/bin/python scripts/vllm_versions/run_tests.py [--version 0.29.0 ...] [-- pytest options and paths]

Exit code 1 when the tests of any release failed. The last lines say which, and how long each took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from versions import ROOT, Release, parse_releases

TESTS = ("tests/collector/scheduler", "tests/collector/policies", "tests/collector/streams")


def environment_of(release: Release) -> dict[str, str]:
    """The variables that put a release in front of the installed one, and tell the tests which one they must meet."""
    return {
        **os.environ,
        "PYTHONPATH": str(release.folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VLLM_TARGET_DEVICE": "cpu",  # a release that is no CPU build chooses its platform by this
        "RADIXFLOW_VLLM_UNDER_TEST": release.version,
    }


def run(release: Release, options: Sequence[str]) -> int:
    """Runs pytest over one release and returns its exit code."""
    paths = [] if any(option.startswith("tests/") for option in options) else [*TESTS]
    # No cache of failures: the releases would overwrite each other's.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *paths]
    return subprocess.run(command, cwd=ROOT, env=environment_of(release)).returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tests over all releases, also behind one that failed."""
    releases, options = parse_releases(__doc__.splitlines()[0], arguments)
    missing = [release.version for release in releases if not release.folder.is_dir()]
    if missing:
        print(f"not set up: {', '.join(missing)}. Run scripts/vllm_versions/setup.py first.", file=sys.stderr)
        return 2
    report, failed = [], False
    for release in releases:
        print(f"== vLLM {release.version}", flush=True)
        start = time.monotonic()
        code = run(release, options)
        failed |= code != 0
        report.append(f"vLLM {release.version}: {'passed' if code == 0 else f'FAILED ({code})'}")
        report[-1] += f" in {time.monotonic() - start:.0f} s"
    print("\n".join(report))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
