"""``radixflow-collect`` on a disk that fills up while it records, and in a folder that nobody can write."""

import json
from pathlib import Path

import pytest

from radixflow.collector.engines.run_closing import close_run
from radixflow.schema.checking.check import check_run
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from radixflow.schema.run_files.writer_hold import free_room
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests.collector.cli.collect_command import assert_one_sentence, collect
from tests.collector.engines.test_ends import start, wait_for, wait_for_the_end_of, written
from tests.collector.odd_runs.mounts import fill, read_only, skip_without_mounts, small_disk

STREAM = ["--stream", "s", "--experiment", "e", "--num-groups", "60", "--rate", "8", "--policy", "radix"]


def test_a_read_only_folder_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with read_only(tmp_path) as is_mounted:
        skip_without_mounts(is_mounted, "a folder read-only")
        result = collect("--model", "tiny-hybrid", "-o", tmp_path, *STREAM)
    assert (result.returncode, result.stdout) == (ExitCode.OUTPUT, "")
    assert_one_sentence(result.stderr)
    assert "Read-only file system" in result.stderr


@pytest.mark.parametrize("has_room", [True, False], ids=["with reserved room", "without (control)"])
def test_the_last_manifest_fits_on_a_full_disk(tmp_path: Path, has_room: bool) -> None:
    with small_disk(tmp_path, 1) as is_mounted:
        skip_without_mounts(is_mounted, "a small disk")
        run = create_run(tmp_path / "run", Manifest("e", "s", "radix", command=["x" * 3000]))
        if not has_room:
            free_room(run.path)
        fill(tmp_path)
        with SegmentWriter(run.path, "engine") as writer:  # full before it starts
            writer.append("spans", (1, "execute", 0, "host", 1, 2))
        assert writer.drops == {"spans": 1} and "No space left on device" in writer.faults[0]
        manifest = run.manifest
        if not has_room:
            with pytest.raises(RadixflowError, match="No space left on device"):
                close_run(run.path, manifest, "complete", ["engine"])
            assert RunDirectory(run.path).state == "recording"  # until it has been silent for long
            return
        close_run(run.path, manifest, "complete", ["engine"])
        assert RunDirectory(run.path).state == "incomplete"
        assert manifest.faults == ["The writer engine did not close its part of the run. It left no word."]


def test_a_run_is_not_begun_on_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path, 1) as is_mounted:
        skip_without_mounts(is_mounted, "a small disk")
        fill(tmp_path)
        with pytest.raises(RadixflowError, match=r"Cannot create the run .*: No space left on device") as caught:
            create_run(tmp_path / "run", Manifest("e", "s", "radix"))
    assert caught.value.exit_code == ExitCode.OUTPUT


@pytest.mark.engine
def test_a_disk_that_fills_up_stops_the_recording_and_not_the_engine(tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    path = tmp_path / "e" / "s" / "radix"
    with small_disk(tmp_path, 1) as is_mounted:
        skip_without_mounts(is_mounted, "a small disk")
        process = start("--model", "tiny-hybrid", "-o", tmp_path, *STREAM)
        wait_for(lambda: written(path, "engine", "rounds") >= 3, process)
        fill(tmp_path)
        stdout, stderr = process.communicate(timeout=240)
        assert process.returncode == ExitCode.OUTPUT, stderr
        assert stdout == ""
        last = stderr.splitlines(keepends=True)[-1]
        assert_one_sentence(last)
        assert "The requests of radix were served, but the recording in" in last
        assert "No space left on device" in last
        assert "Traceback" not in stderr
        wait_for_the_end_of(process.pid)
        manifest = json.loads((path / "manifest.json").read_text())
        assert manifest["state"] == "incomplete"  # said at once, on the full disk
        assert any("No space left on device" in fault for fault in manifest["faults"])
        assert RunDirectory(path).state == "incomplete"
        assert "the run is incomplete" in str(check_run(path)[0])
        with open_runs([path]) as connection:
            assert connection.execute("SELECT num_rounds FROM run_summary").fetchall()[0][0] >= 3
            assert connection.execute("SELECT * FROM ledger_faults").fetchall() == []
