"""Rows are made from notes, later: whoever reads them, and however late, they say what happened when it happened."""

import functools
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation import schedulers
from radixflow.collector.instrumentation.recorder import note_tape
from radixflow.collector.instrumentation.recorder.note_tape import NoteTape
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.row_making.row_maker import RowMaker
from radixflow.collector.instrumentation.row_making.visit_runs import VisitRuns
from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests.collector.instrumentation.recorder.test_recorder_failures import assert_the_run_says_so, decisions, make_run
from tests.scheduler_harness import SchedulerWorld, WorldShape

POLICIES = ("radix", "radixflow-immediate", "radixflow+frag")
Tables = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(autouse=True)
def nothing_is_flushed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a test takes, the writer flushes at its end, and when the test says so.

    A flush takes the runs of visits that are still growing. Those that follow get new places, which are comparable
    within a round only: recordings that were flushed at different moments agree in the order of places, not in places.
    """
    monkeypatch.setattr(schedulers, "SegmentWriter", functools.partial(SegmentWriter, flush_seconds=3_600))


def tables_of(
    run: Path, policy: str, is_async: bool, seed: int, reads_at_once: bool, flush_every: int | None = None
) -> Tables:
    """Record random traffic; return every table without its times.

    Args:
        run: Where to record.
        policy: The policy.
        is_async: Whether scheduling is asynchronous.
        seed: Equal seeds give equal traffic.
        reads_at_once: Whether notes are read after every step, or all of them at the end.
        flush_every: Steps between two flushes; None for a single one at the end.
    """
    create_run(run, Manifest("e", "s", policy, state="complete"))
    shape = WorldShape(
        block_size=16, hash_block_size=None, num_blocks=60, max_num_seqs=8, max_num_batched_tokens=64,
        max_prompt_tokens=96, arrival_rate=3.0, async_scheduling=is_async,
    )  # fmt: skip
    settings = {"policy": policy, "run_directory": str(run), "probe": "full"}
    scheduler_cls = RecordedAsyncScheduler if is_async else RecordedScheduler
    world = SchedulerWorld(shape, random.Random(seed), scheduler_cls, {"radixflow": settings})
    recorder: Any = world.scheduler.listener
    assert isinstance(recorder, RoundRecorder)
    for number, _ in enumerate(world.states(150)):
        world.advance()
        if reads_at_once:
            recorder.read()
        if flush_every is not None and number % flush_every == 0:
            recorder._writer._flusher.flush()
    world.answer_all()
    world.scheduler.shutdown()
    return read_tables(run)


def read_tables(run: Path) -> Tables:
    found = {}
    with open_runs([run]) as connection:
        for table in ALL_TABLES:
            # Where a run of equal visits is cut depends on when it is written.
            source = "spread_visits" if table == "visits" else table
            names = ", ".join(columns_of(table))
            found[table] = connection.execute(f"SELECT {names} FROM {source} ORDER BY ALL").fetchall()
    return found


def columns_of(table: str) -> list[str]:
    """Columns that say the same whenever rows are made: no times, and not where a run of equal visits is cut."""
    return [
        name
        for name in ALL_TABLES[table].names
        if not (name.endswith("_ns") or (table, name) == ("visits", "last_round"))
    ]


def with_ranks(tables: Tables) -> Tables:
    """The same with each place in a scan replaced by its rank among the places of its round."""
    at = {table: (columns_of(table).index("round"), columns_of(table).index("visit")) for table in ("rows", "visits")}
    places: dict[int, set[int]] = {}
    for table, (number, visit) in at.items():
        for row in tables[table]:
            if row[visit] is not None:
                places.setdefault(row[number], set()).add(row[visit])
    ranks = {(number, place): rank for number, seen in places.items() for rank, place in enumerate(sorted(seen))}
    ranked = {
        table: [(*row[:visit], ranks.get((row[number], row[visit])), *row[visit + 1 :]) for row in tables[table]]
        for table, (number, visit) in at.items()
    }
    return tables | {table: sorted(rows, key=repr) for table, rows in ranked.items()}


@pytest.fixture
def nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer's thread makes no rows, and nothing is too long to wait."""
    monkeypatch.setattr(SegmentWriter, "collect_by", lambda *_: None)
    monkeypatch.setattr(note_tape, "MOST_NOTES", 10**9)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("policy", POLICIES)
def test_rows_do_not_depend_on_when_they_are_made(
    policy: str, is_async: bool, tmp_path: Path, nobody_reads: None
) -> None:
    at_once = tables_of(tmp_path / "at-once", policy, is_async, 7, reads_at_once=True)
    at_the_end = tables_of(tmp_path / "at-the-end", policy, is_async, 7, reads_at_once=False)
    for table, rows in at_once.items():
        assert rows == at_the_end[table], table
        assert rows or table in ("offers", "spans"), f"nothing of {table} happened"


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_rows_do_not_depend_on_when_they_are_flushed(is_async: bool, tmp_path: Path, nobody_reads: None) -> None:
    seldom = tables_of(tmp_path / "seldom", "radix", is_async, 7, reads_at_once=True)
    often = tables_of(tmp_path / "often", "radix", is_async, 7, reads_at_once=True, flush_every=5)
    assert often["visits"] != seldom["visits"], "places are given anew after a flush: only their ranks say something"
    assert with_ranks(often) == with_ranks(seldom)


@pytest.mark.parametrize("fault", ["twice", "backwards"])
def test_rows_that_a_flush_changes_would_be_found(
    fault: str, tmp_path: Path, nobody_reads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: what a flush takes goes on as if nobody had taken it, or new places go down the queue."""
    native = VisitRuns.add_round

    def take_and_keep(self: VisitRuns) -> list[tuple[Any, ...]]:
        return [run.as_row(request) for request, run in self._open.items()]

    def backwards(self: VisitRuns, number: int, visits: Any) -> Any:
        places, ended = native(self, number, visits)
        return places[::-1], ended

    seldom = tables_of(tmp_path / "seldom", "radix", False, 7, reads_at_once=True)
    if fault == "twice":
        monkeypatch.setattr(VisitRuns, "take", take_and_keep)
    else:
        monkeypatch.setattr(VisitRuns, "add_round", backwards)
    often = tables_of(tmp_path / "often", "radix", False, 7, reads_at_once=True, flush_every=5)
    assert with_ranks(often) != with_ranks(seldom)


def test_rows_that_ask_the_requests_too_late_would_be_found(
    tmp_path: Path, nobody_reads: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: what a request has computed is looked up when the row is made."""
    make_rows = RowMaker._make_rows

    def careless(self: RowMaker, step: Any, places: dict[str, int]) -> list[str]:
        rows = [(request, num_tokens, request.num_computed_tokens, num) for request, num_tokens, _, num in step.rows]
        return make_rows(self, step._replace(rows=rows), places)

    monkeypatch.setattr(RowMaker, "_make_rows", careless)
    at_once = tables_of(tmp_path / "at-once", "radix", False, 7, reads_at_once=True)
    at_the_end = tables_of(tmp_path / "at-the-end", "radix", False, 7, reads_at_once=False)
    assert at_once["rows"] != at_the_end["rows"]


def test_the_engines_thread_makes_rows_where_the_writers_does_not_keep_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some at a time: the notes that wait are bounded, and every row is there."""
    expected = tables_of(tmp_path / "expected", "radix", False, 7, reads_at_once=False)
    most = []
    note_step = RoundRecorder._note_step
    monkeypatch.setattr(SegmentWriter, "collect_by", lambda *_: None)
    monkeypatch.setattr(note_tape, "MOST_NOTES", 20)

    def counted(self: RoundRecorder, *given: Any) -> None:
        most.append(len(self._tape))
        note_step(self, *given)

    monkeypatch.setattr(RoundRecorder, "_note_step", counted)
    assert tables_of(tmp_path / "run", "radix", False, 7, reads_at_once=False) == expected
    assert 20 < max(most) < 60


def test_rows_are_made_without_the_engines_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the writer's thread, several times a second; the engine's only waits here, for the test to see it."""
    expected = tables_of(tmp_path / "expected", "radix", False, 7, reads_at_once=False)

    def wait(recorder: RoundRecorder) -> None:
        deadline = time.monotonic() + 20
        while len(recorder._tape) and time.monotonic() < deadline:
            time.sleep(0.02)

    def read_elsewhere(tape: NoteTape, most: int) -> None:
        if threading.current_thread() is threading.main_thread():
            pytest.fail("the engine's thread makes rows")
        read(tape, most)

    read = NoteTape._read
    monkeypatch.setattr(RoundRecorder, "read", wait)
    monkeypatch.setattr(NoteTape, "_read", read_elsewhere)
    monkeypatch.setattr(note_tape, "MOST_NOTES", 10**9)
    assert tables_of(tmp_path / "run", "radix", False, 7, reads_at_once=False) == expected


def test_rows_that_cannot_be_made_end_the_recording_and_change_no_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run, made = make_run(tmp_path, "radix"), []
    processed = RowMaker.processed

    def fails(self: RowMaker, *given: Any) -> None:
        made.append(given)
        if len(made) > 5:
            raise RuntimeError("sabotage")
        processed(self, *given)

    monkeypatch.setattr(RowMaker, "processed", fails)
    assert decisions(RecordedScheduler, "radix", seed=3, run=run) == decisions(Scheduler, "radix", seed=3)
    assert_the_run_says_so(run, capfd)
    assert len(made) == 6, "what follows counts on what failed: it is not tried"
    assert len(read_tables(run)["rounds"]) == 5
