"""The pace of a writer's thread: no flush later than asked for, rows made meanwhile, and woken at once."""

import threading
import time

import pytest

from radixflow.schema.writing import flush_pace
from radixflow.schema.writing.flush_pace import FlushPace


def seconds_of(wait):
    begun = time.monotonic()
    wait()
    return time.monotonic() - begun


def test_a_wait_ends_at_the_next_flush():
    pace = FlushPace(0.2, lambda: True)
    assert 0.15 < seconds_of(pace.wait) < 2
    assert 0.15 < seconds_of(pace.wait) < 2


def test_a_flush_that_took_long_leaves_the_disk_alone_for_a_moment(monkeypatch):
    monkeypatch.setattr(flush_pace, "LEAST_PAUSE_SECONDS", 0.2)
    pace = FlushPace(0.01, lambda: True)
    time.sleep(0.05)
    assert seconds_of(pace.wait) > 0.15


@pytest.mark.parametrize("collects", [False, True])
def test_another_thread_ends_a_wait(collects):
    pace = FlushPace(60, lambda: True)
    if collects:
        pace.collect_by(lambda: None)
        pace.wait()  # which it has woken itself
    waker = threading.Timer(0.1, pace.wake)
    waker.start()
    assert seconds_of(pace.wait) < 10
    waker.join()


def test_a_wake_before_the_wait_is_not_lost_and_counts_once():
    pace = FlushPace(0.3, lambda: True)
    pace.wake()
    pace.wake()
    assert seconds_of(pace.wait) < 0.2
    assert seconds_of(pace.wait) > 0.2


def test_rows_are_made_several_times_a_flush_and_just_before_it(monkeypatch):
    monkeypatch.setattr(flush_pace, "COLLECT_SECONDS", 0.05)
    pace, collected = FlushPace(0.5, lambda: True), []
    pace.collect_by(lambda: collected.append(time.monotonic()))
    pace.wait()
    assert len(collected) == 1, "it was woken to collect from now on"
    pace.wait()
    assert len(collected) >= 4
    pace.wake()
    num_collected = len(collected)
    pace.wait()
    assert len(collected) == num_collected + 1, "what came last is made before it is flushed"


def test_no_rows_are_made_for_a_writer_that_takes_none():
    is_open, collected = threading.Event(), []
    pace = FlushPace(0.05, is_open.is_set)
    pace.collect_by(lambda: collected.append(1))
    pace.wait()
    assert collected == []
    is_open.set()
    pace.wait()
    assert collected
