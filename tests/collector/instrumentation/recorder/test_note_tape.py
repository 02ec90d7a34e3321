"""The tape of notes: in order, each read once, by one thread at a time, and never more of them than is allowed."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from radixflow.collector.instrumentation.recorder import note_tape
from radixflow.collector.instrumentation.recorder.note_tape import NoteTape


class Reader:
    """Makes of each note what a row maker would: it keeps it, and sees whether somebody else is at it."""

    def __init__(self) -> None:
        self.read: list[Any] = []
        self.num_ends = 0
        self.failures: list[Exception] = []
        self.has_met_another = False
        self._is_busy = False
        self.tape = NoteTape(self.end, self.failures.append)

    def make(self, number: int) -> None:
        self.has_met_another |= self._is_busy
        self._is_busy = True
        time.sleep(0)
        self.read.append(number)
        self._is_busy = False

    def fail(self) -> None:
        raise RuntimeError("sabotage")

    def end(self) -> None:
        self.num_ends += 1

    def note(self, *numbers: int) -> None:
        for number in numbers:
            self.tape.note((self.make, number))


class NoLock(contextlib.nullcontext[None]):
    """Lets everybody in."""

    def acquire(self, blocking: bool = True) -> bool:
        return True

    def release(self) -> None:
        """Nobody waits."""


def test_notes_are_read_once_and_in_order() -> None:
    reader = Reader()
    reader.note(1, 2, 3)
    assert len(reader.tape) == 3 and reader.read == []
    reader.tape.read()
    reader.tape.read()
    assert reader.read == [1, 2, 3] and len(reader.tape) == 0 and reader.num_ends == 2


def test_what_is_noted_while_reading_is_read_the_next_time() -> None:
    reader = Reader()
    reader.tape.note((reader.note, 2))
    reader.tape.read()
    assert reader.read == [] and len(reader.tape) == 1


def test_the_engines_thread_reads_a_few_where_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_tape, "MOST_NOTES", 20)
    reader = Reader()
    reader.note(*range(20))
    reader.tape.keep_short()
    assert reader.read == [], "so many may wait"
    reader.note(20)
    reader.tape.keep_short()
    assert reader.read == list(range(note_tape._NOTES_AT_ONCE)) and reader.num_ends == 1


def test_the_engines_thread_does_not_wait_for_another_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_tape, "MOST_NOTES", 1)
    reader, is_reading, may_go_on = Reader(), threading.Event(), threading.Event()

    def slow() -> None:
        is_reading.set()
        assert may_go_on.wait(30)

    reader.tape.note((slow,))
    thread = threading.Thread(target=reader.tape.read_for_writer, daemon=True)
    thread.start()
    assert is_reading.wait(30)
    reader.note(1, 2, 3)
    begun = time.monotonic()
    reader.tape.keep_short()
    assert time.monotonic() - begun < 1 and reader.read == [] and len(reader.tape) == 3
    may_go_on.set()
    thread.join()
    reader.tape.keep_short()
    assert reader.read == [1, 2, 3] and reader.failures == []


def test_notes_that_somebody_else_has_read_meanwhile_are_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many waited when the engine's thread looked, and none any more when it was its turn."""
    monkeypatch.setattr(note_tape, "MOST_NOTES", 1)
    reader = Reader()

    class ReadsFirst(NoLock):
        def acquire(self, blocking: bool = True) -> bool:
            reader.tape._read(len(reader.tape))
            return True

    reader.note(1, 2, 3)
    reader.tape._reading = ReadsFirst()  # type: ignore[assignment]
    reader.tape.keep_short()
    assert reader.read == [1, 2, 3]


@pytest.mark.parametrize("thread", ["engine", "engine that catches up", "writer"])
def test_what_follows_a_failure_is_forgotten_and_the_failure_is_told(
    thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(note_tape, "MOST_NOTES", 1)
    reader = Reader()
    reader.note(1)
    reader.tape.note((reader.fail,))
    reader.note(2, 3)
    if thread == "writer":
        reader.tape.read_for_writer()
    else:
        with pytest.raises(RuntimeError, match="sabotage"):
            (reader.tape.read if thread == "engine" else reader.tape.keep_short)()
    assert [str(error) for error in reader.failures] == (["sabotage"] if thread == "writer" else [])
    assert reader.read == [1] and len(reader.tape) == 0
    reader.note(4)
    reader.tape.read()  # nobody holds the tape any more
    assert reader.read == [1, 4]


def shared(reader: Reader, num_notes: int = 4_000) -> list[int]:
    """One thread notes and catches up, as an engine's does; another reads all the time; returns what was noted."""
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            reader.tape.read_for_writer()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        for number in range(num_notes):
            reader.note(number)
            reader.tape.keep_short()
    finally:
        is_over.set()
        thread.join()
    reader.tape.read()
    return list(range(num_notes))


def test_between_two_threads_every_note_is_read_once_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_tape, "MOST_NOTES", 10)
    reader = Reader()
    assert shared(reader) == reader.read
    assert not reader.has_met_another and reader.failures == [] and len(reader.tape) == 0


def test_two_readers_at_a_time_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control arm: nobody keeps the readers apart."""
    monkeypatch.setattr(note_tape, "MOST_NOTES", 10)
    reader = Reader()
    reader.tape._reading = NoLock()  # type: ignore[assignment]
    with contextlib.suppress(IndexError):  # one reader takes what the other has counted
        shared(reader)
    assert reader.has_met_another or reader.failures or reader.read != sorted(reader.read)


@pytest.mark.parametrize("keeps_short", [True, False])
def test_a_tape_is_bounded_by_its_engine_where_no_writer_reads(
    keeps_short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And, the control arm, it is not where the engine's thread does nothing about it."""
    monkeypatch.setattr(note_tape, "MOST_NOTES", 50)
    reader, longest = Reader(), 0
    catch_up: Callable[[], None] = reader.tape.keep_short if keeps_short else lambda: None
    for round_number in range(200):
        reader.note(*range(4 * round_number, 4 * round_number + 4))
        catch_up()
        longest = max(longest, len(reader.tape))
    assert (longest <= 54) == keeps_short
