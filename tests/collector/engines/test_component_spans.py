"""The intervals of a real recording, on the engine and in its worker, against NVTX and against each other."""

from collections import Counter
from pathlib import Path

import duckdb
import pytest

from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from tests.collector.cli.collect_command import collect
from tests.collector.instrumentation.spans.nvtx_calls import attach_tool, closed_ranges, read_calls, texts

pytest.importorskip("vllm")
pytest.importorskip("nvtx")
pytestmark = pytest.mark.engine

WORDS = ["--num-groups", "6", "--rate", "inf", "--regime", "mixed", "--max-model-len", "5000"]
PER_ROUND = ("dispatch", "execute", "restore", "forward", "sample")
"""Components that work once in each round of this engine."""


class Recording:
    """One arm with a tool attached to all of its processes."""

    def __init__(self, folder: Path) -> None:
        words = ["--model", "tiny-hybrid", "--policy", "radixflow-immediate", "-o", folder / "runs", "--stream", "s"]
        result = collect(*words, *WORDS, "--max-output-tokens", "3", **attach_tool(folder))
        assert result.returncode == 0, result.stderr
        self.path = folder / "runs" / "tiny-hybrid" / "s" / "radixflow-immediate"
        self.ranges = closed_ranges(read_calls(folder))

    def query(self, sql: str) -> list[tuple[int, ...]]:
        connection: duckdb.DuckDBPyConnection = open_runs([self.path])
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return Recording(tmp_path_factory.mktemp("spans"))


def test_every_component_of_a_round_has_its_interval(recording: Recording) -> None:
    assert check_run(recording.path) == []
    (num_rounds,) = recording.query("SELECT count(*) FROM rounds")[0]
    assert num_rounds > 5
    found = dict(recording.query("SELECT component, count(*) FROM spans GROUP BY component"))  # type: ignore[arg-type]
    assert {component: found[component] for component in PER_ROUND} == dict.fromkeys(PER_ROUND, num_rounds)
    assert found["lookup"] >= 24  # each of the 24 requests is looked up at least once
    assert found["publish"] > 0
    assert set(found) == {*PER_ROUND, "lookup", "publish"}


def test_nvtx_ranges_are_as_many_as_the_intervals(recording: Recording) -> None:
    (num_rounds,) = recording.query("SELECT count(*) FROM rounds")[0]
    emitted = texts([each for each in recording.ranges if 1 <= each.payload <= num_rounds])
    found = Counter(dict(recording.query("SELECT component, count(*) FROM spans GROUP BY component")))  # type: ignore[arg-type]
    for component, count in found.items():
        assert emitted[str(component)] == count
    assert emitted["round"] == emitted["update"] == num_rounds
    assert emitted["schedule"] >= num_rounds


def test_intervals_lie_where_they_belong(recording: Recording) -> None:
    """Parts within wholes, and the order of a round: all on one clock, over two processes."""
    misplaced = """
        WITH worker AS (
            SELECT run, round, min(start_ns) FILTER (component = 'execute') AS execute_start,
                max(end_ns) FILTER (component = 'execute') AS execute_end,
                min(start_ns) FILTER (component = 'restore') AS restore_start,
                max(end_ns) FILTER (component = 'restore') AS restore_end,
                min(start_ns) FILTER (component = 'forward') AS forward_start,
                max(end_ns) FILTER (component = 'forward') AS forward_end,
                min(start_ns) FILTER (component = 'sample') AS sample_start,
                max(end_ns) FILTER (component = 'sample') AS sample_end,
                min(start_ns) FILTER (component = 'dispatch') AS dispatch_start
            FROM spans GROUP BY ALL)
        SELECT count(*) FROM worker JOIN rounds USING (run, round) WHERE NOT (
            schedule_end_ns <= dispatch_start AND dispatch_start <= execute_start AND execute_start <= restore_start
            AND restore_end <= forward_start AND forward_end <= execute_end AND execute_end <= sample_start
            AND sample_end <= update_start_ns)"""
    assert recording.query(misplaced) == [(0,)]
    outside = """
        SELECT count(*) FROM spans JOIN rounds USING (run, round)
        WHERE component IN ('lookup', 'publish')
        AND NOT (schedule_start_ns <= start_ns AND end_ns <= update_start_ns)"""
    assert recording.query(outside) == [(0,)]


def test_the_view_shows_engine_and_worker_on_one_axis(recording: Recording) -> None:
    shown = set(recording.query("SELECT DISTINCT component, process_rank FROM round_spans"))
    engine = {(name, None) for name in ("schedule", "update", "lookup", "publish", "dispatch")}
    worker = {(name, 0) for name in ("execute", "restore", "forward", "sample")}
    assert shown == engine | worker
