"""``radixflow-collect repair`` as a user meets it: lines on stdout, exit codes, one sentence where it refuses."""

import json
import os
import time
from pathlib import Path

from radixflow.schema.errors import ExitCode
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests.collector.cli.collect_command import assert_one_sentence, collect


def unfinished_run(path: Path) -> Path:
    """A run that nobody closed, as if its client had been killed a minute ago, with a temporary file."""
    create_run(path, Manifest("e", "s", "radix"))
    with SegmentWriter(path, "engine") as writer:
        writer.append("spans", (1, "execute", 0, "host", 1, 2))
    (path / "spans" / ".tmp-engine-000001.parquet").write_bytes(b"PAR1")
    for each in (path / "manifest.json", path / "writers" / "engine.json"):
        os.utime(each, (time.time() - 60, time.time() - 60))
    return path


def test_what_is_done_is_printed_and_a_second_time_there_is_nothing_to_do(tmp_path: Path) -> None:
    path = unfinished_run(tmp_path / "run")
    first = collect("repair", path)
    assert first.returncode == ExitCode.OK
    assert first.stdout.splitlines() == [
        f"{path}: spans/.tmp-engine-000001.parquet, a file that was being written, was removed.",
        f"{path}: The manifest was written anew: the run is incomplete and repaired.",
    ]
    assert first.stderr == ""
    second = collect("repair", path, "--json")
    assert (second.returncode, second.stderr) == (ExitCode.OK, f"{path}: nothing to repair.\n")
    assert json.loads(second.stdout) == [{"run": str(path), "done": [], "missing": []}]
    checked = collect("check", path)
    assert checked.returncode == ExitCode.FAULTS
    assert "the run is incomplete (repaired 20" in checked.stdout


def test_a_run_that_is_being_recorded_is_refused(tmp_path: Path) -> None:
    create_run(tmp_path / "run", Manifest("e", "s", "radix"))
    with SegmentWriter(tmp_path / "run", "engine"):
        result = collect("repair", tmp_path / "run")
    assert (result.returncode, result.stdout) == (ExitCode.OUTPUT, "")
    assert_one_sentence(result.stderr)
    assert "being recorded" in result.stderr


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    result = collect("repair", tmp_path)
    assert (result.returncode, result.stdout) == (ExitCode.USAGE, "")
    assert_one_sentence(result.stderr)
