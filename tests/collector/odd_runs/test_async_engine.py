"""A recorded run of the real engine with asynchronous scheduling: its answers are those of an unrecorded one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("vllm")

from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest, read_manifest, write_manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from tests.collector.cli.collect_command import environment
from tests.collector.odd_runs.async_engine import MAX_TOKENS, NUM_REQUESTS
from tests.schema.views.test_identities import broken_identities

pytestmark = [pytest.mark.engine, pytest.mark.long]
ROOT = Path(__file__).parents[3]
OVERLAPPING = """
    SELECT count(*) FROM (
        SELECT update_start_ns, lead(schedule_start_ns) OVER (ORDER BY round) AS next_start_ns FROM rounds
    ) WHERE next_start_ns < update_start_ns"""


def serve(folder: Path, *words: str, run: Path | None = None) -> tuple[list[list[int]], str]:
    answers = folder / "answers.json"
    command = [sys.executable, "-m", "tests.collector.odd_runs.async_engine", str(answers)]
    if run is not None:
        create_run(run, Manifest("e", "s", "radix", engine_arguments={"max_num_seqs": 8}, probe="full"))
        command.append(str(run))
    paths = f"{ROOT / '.import_root'}:{ROOT}"
    ended = subprocess.run(
        [*command, *words], cwd=ROOT, env=environment(PYTHONPATH=paths), capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(answers.read_text()), ended.stdout


def complete(run: Path) -> None:
    """What the command does when the engine has closed its part."""
    manifest = read_manifest(run)
    manifest.state = "complete"
    manifest.tables = {table: count for table, count in RunDirectory(run).writers()["engine"]["rows_written"].items()}
    write_manifest(run, manifest)


def test_a_recorded_asynchronous_engine_answers_as_an_unrecorded_one(tmp_path: Path) -> None:
    unrecorded, said = serve(tmp_path)
    assert "AsyncScheduler batch queue" in said
    recorded, said = serve(tmp_path, run=tmp_path / "run")
    assert "RecordedAsyncScheduler batch queue" in said
    assert recorded == unrecorded
    assert len({tuple(tokens) for tokens in unrecorded}) > NUM_REQUESTS // 2  # or equality would say little
    complete(tmp_path / "run")
    assert check_run(tmp_path / "run") == []
    with open_runs([tmp_path / "run"]) as connection:
        assert broken_identities(connection) == {}
        ((num_rounds,),) = connection.execute("SELECT count(*) FROM rounds").fetchall()
        ((num_overlapping,),) = connection.execute(OVERLAPPING).fetchall()
        assert num_overlapping > num_rounds / 2  # scheduled before the round before them had been processed
        outputs = "SELECT sum(num_output_tokens), count(*) FILTER (outcome = 'finished') FROM requests"
        assert connection.execute(outputs).fetchall() == [(NUM_REQUESTS * MAX_TOKENS, NUM_REQUESTS)]
        too_early = """SELECT count(*) FROM awaited_states JOIN rounds USING (run, round)
                       WHERE completed_ns >= schedule_end_ns"""  # the fence of an output that was still in flight
        assert connection.execute(too_early).fetchall() == [(0,)]


def test_rounds_of_a_synchronous_engine_do_not_overlap(tmp_path: Path) -> None:
    """The control of what is called asynchronous above."""
    _, said = serve(tmp_path, "--sync", run=tmp_path / "run")
    assert "RecordedScheduler no queue" in said
    with open_runs([tmp_path / "run"]) as connection:
        assert connection.execute(OVERLAPPING).fetchall() == [(0,)]
