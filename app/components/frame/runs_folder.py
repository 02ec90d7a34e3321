"""Which folder of runs the app was started on: the only folder from which it opens anything."""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

SAMPLE_RUNS = Path(__file__).resolve().parents[3] / "sample_runs"
"""Recordings that come with the project."""


class RunsFolder(NamedTuple):
    """The folder asked for, and where to look when it holds no run.

    Attributes:
        asked_for: Folder of ``--runs``, else ``runs`` in the working directory.
        samples: Folder of the sample recordings.
    """

    asked_for: Path
    samples: Path


def runs_folder() -> RunsFolder:
    """Read the arguments after ``--``. Unknown ones are passed over: they belong to whoever started Python."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    arguments, _ = parser.parse_known_args(sys.argv[1:])
    return RunsFolder(arguments.runs, SAMPLE_RUNS)
