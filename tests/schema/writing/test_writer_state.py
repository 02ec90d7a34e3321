"""The life of a writer is one value, and only the declared steps lead from one to another."""

import itertools
import threading

import pytest

from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.writing.segment_writer import SegmentWriter
from radixflow.schema.writing.writer_state import NEXT_STATES, WriterLife, WriterState

S = WriterState
PATHS = {
    "closes": [S.ENDING, S.CLOSED],
    "ends early": [S.ENDED_EARLY],
    "is closed early while it ends": [S.ENDING, S.ENDED_EARLY],
    "was closed, and what it recorded turns out to go on": [S.ENDING, S.CLOSED, S.ENDED_EARLY],
    "fails": [S.STOPPED_BY_FAULT],
    "fails at its end": [S.ENDING, S.STOPPED_BY_FAULT],
    "fails in its last words": [S.ENDING, S.CLOSED, S.STOPPED_BY_FAULT],
    "fails after it was ended early": [S.ENDED_EARLY, S.STOPPED_BY_FAULT],
    "is not the only one": [S.NAME_TAKEN],
}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_these_lives_there_are(path):
    life = WriterLife()
    assert [life.become(state) for state in path] == [True] * len(path) and life.state is path[-1]


@pytest.mark.parametrize("start, end", list(itertools.product(WriterState, repeat=2)))
def test_a_step_that_is_not_declared_is_refused_and_changes_nothing(start, end):
    life = WriterLife()
    life.state = start
    is_declared = end in NEXT_STATES[start]
    assert life.become(end) == is_declared
    assert life.state is (end if is_declared else start)


def test_what_failed_or_ended_early_never_closes():
    reached = {state: set(NEXT_STATES[state]) for state in WriterState}
    for _ in WriterState:
        reached = {state: ends.union(*(reached[end] for end in ends)) for state, ends in reached.items()}
    never_closed = {S.ENDED_EARLY, S.STOPPED_BY_FAULT, S.NAME_TAKEN, S.SILENT_CHILD}
    assert {state for state in WriterState if S.CLOSED not in reached[state]} == never_closed | {S.CLOSED}
    assert all(S.OPEN not in ends for ends in reached.values())
    assert all(S.SILENT_CHILD in reached[state] for state in WriterState if state is not S.SILENT_CHILD)


def test_a_table_with_one_step_too_many_would_be_found(monkeypatch):
    """The control arm: a writer that stopped may close."""
    monkeypatch.setitem(NEXT_STATES, S.STOPPED_BY_FAULT, frozenset({S.CLOSED}))
    with pytest.raises(AssertionError):
        test_what_failed_or_ended_early_never_closes()


@pytest.mark.parametrize("state", WriterState)
def test_only_one_thread_takes_a_step(state):
    life, winners, start = WriterLife(), [], threading.Barrier(8)

    def take():
        start.wait()
        if life.become(state):
            winners.append(threading.get_ident())

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == (state in NEXT_STATES[S.OPEN])


def test_a_forked_child_is_silent_whoever_holds_the_lock():
    life = WriterLife()
    life._lock.acquire()  # as a thread of the parent may, at the moment of the fork
    life.become_silent_child()
    assert life.state is S.SILENT_CHILD and not life.become(S.ENDING)


def test_what_a_state_allows():
    assert {state for state in WriterState if not state.owns_its_files} == {S.NAME_TAKEN, S.SILENT_CHILD}
    assert {state for state in WriterState if state.is_given_up} == {S.STOPPED_BY_FAULT, S.NAME_TAKEN, S.SILENT_CHILD}


# -- of a whole writer -----------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path):
    return create_run(tmp_path / "run", Manifest(experiment="try", stream="mixed", policy="radix"))


def test_a_writer_goes_through_its_states(run):
    writer = SegmentWriter(run.path, "engine", flush_seconds=60)
    assert writer._life.state is S.OPEN
    other = SegmentWriter(run.path, "engine", flush_seconds=60)
    assert other._life.state is S.NAME_TAKEN and other.close() is False and other._life.state is S.NAME_TAKEN
    assert writer.close() and writer._life.state is S.CLOSED


def test_a_writer_whose_name_is_taken_leaves_the_status_of_the_other(run):
    with SegmentWriter(run.path, "engine", flush_seconds=60) as first:
        first.describe(num_blocks=64)
        first._write_status()
        before = (run.path / "writers" / "engine.json").stat().st_mtime_ns
        other = SegmentWriter(run.path, "engine", flush_seconds=60)
        other.append("spans", (1, "execute", 0, "host", 1, 2))
        assert other.close(fault="and it failed") is False and len(other.faults) == 2
        assert (run.path / "writers" / "engine.json").stat().st_mtime_ns == before
        assert run.writers()["engine"]["num_blocks"] == 64 and run.writers()["engine"]["faults"] == []


def test_a_recording_that_ends_early_is_written_and_not_closed(run):
    writer = SegmentWriter(run.path, "engine", flush_seconds=60)
    writer.append("spans", (1, "execute", 0, "host", 1, 2))
    assert writer.close(fault="the recorder failed") is False
    assert writer.close() is False and writer._life.state is S.ENDED_EARLY
    status = run.writers()["engine"]
    assert status["rows_written"] == {"spans": 1} and status["faults"] == ["the recorder failed"]
    assert status["closed"] is False


def test_a_closed_writer_whose_recording_turns_out_to_have_failed_says_so(run):
    writer = SegmentWriter(run.path, "engine", flush_seconds=60)
    assert writer.close() and run.writers()["engine"]["closed"]
    assert writer.close(fault="the recorder failed") is False
    assert run.writers()["engine"]["closed"] is False and run.writers()["engine"]["faults"] == ["the recorder failed"]
