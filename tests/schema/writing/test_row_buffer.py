"""The buffer of a writer: bounded, exact about what it drops, and safe between threads."""

import threading
from collections import Counter

import pytest

from radixflow.schema.writing.row_buffer import RowBuffer


def make_buffer(most_rows=10**6, rows_at_once=10**6, on_full=lambda: None, kind=RowBuffer):
    return kind(("rows", "visits"), most_rows, rows_at_once, on_full)


def test_rows_come_out_by_table_in_their_order_and_count_until_they_are_settled():
    buffer = make_buffer()
    buffer.append("rows", (1,))
    buffer.append("rows", [(2,), (3,)])
    buffer.append("visits", [])
    assert buffer.take() == {"rows": [(1,), (2,), (3,)], "visits": []}
    assert buffer.take() == {"rows": [], "visits": []} and buffer.num_rows == 3
    buffer.settle("rows", num_written=2, num_lost=1)
    assert buffer.num_rows == 0 and buffer.drops == {"rows": 1}


def test_an_unknown_table_is_an_error_of_the_caller_and_leaves_the_buffer_usable():
    buffer = make_buffer()
    with pytest.raises(KeyError):
        buffer.append("unknown", (1,))
    buffer.append("rows", (1,))
    assert buffer.num_rows == 1


def test_rows_beyond_the_bound_are_dropped_whole_calls_at_a_time():
    buffer = make_buffer(most_rows=3)
    buffer.append("rows", [(1,), (2,)])
    buffer.append("visits", [(3,), (4,)])  # one of the two would fit
    buffer.append("rows", (5,))
    assert buffer.take() == {"rows": [(1,), (2,), (5,)], "visits": []}
    assert buffer.drops == {"visits": 2} and buffer.has_overrun


def test_rows_that_are_being_written_count_against_the_bound():
    buffer = make_buffer(most_rows=2)
    buffer.append("rows", [(1,), (2,)])
    buffer.take()
    buffer.append("rows", (3,))
    buffer.settle("rows", 2, 0)
    buffer.append("rows", (4,))
    assert buffer.take()["rows"] == [(4,)] and buffer.drops == {"rows": 1}


def test_rows_that_never_waited_count_as_well():
    buffer = make_buffer(most_rows=2)
    buffer.add_taken(2)
    buffer.append("rows", (1,))
    assert buffer.drops == {"rows": 1} and buffer.num_rows == 2


def test_rows_given_back_come_before_those_that_came_since():
    buffer = make_buffer()
    buffer.append("rows", [(1,), (2,)])
    taken = buffer.take()
    buffer.append("rows", (3,))
    buffer.give_back(taken)
    assert buffer.take()["rows"] == [(1,), (2,), (3,)] and buffer.num_rows == 3


def test_a_shut_buffer_keeps_what_waits_and_counts_what_comes_without_calling_it_overrun():
    buffer = make_buffer()
    buffer.append("rows", (1,))
    buffer.shut()
    buffer.append("rows", [(2,), (3,)])
    assert buffer.take()["rows"] == [(1,)] and buffer.drops == {"rows": 2} and not buffer.has_overrun


def test_a_buffer_that_gives_up_drops_and_counts_what_waits():
    buffer = make_buffer()
    buffer.append("rows", [(1,), (2,)])
    buffer.give_up()
    buffer.append("visits", (3,))
    buffer.give_up()
    assert buffer.drops == {"rows": 2, "visits": 1} and buffer.num_rows == 0
    assert buffer.take() == {"rows": [], "visits": []}


def test_a_full_table_is_told_without_the_lock_and_other_tables_do_not_count():
    told = []

    def on_full():
        told.append(buffer.num_rows)
        assert buffer._lock.acquire(timeout=5), "who is told may wait for the disk; nobody may wait for that"
        buffer._lock.release()

    buffer = make_buffer(rows_at_once=3, on_full=on_full)
    buffer.append("visits", [(0,), (0,)])
    buffer.append("rows", [(1,), (2,)])
    assert told == []
    buffer.append("rows", (3,))
    assert told == [5]


def test_a_forgotten_buffer_is_empty_and_shut_whoever_holds_its_lock():
    buffer = make_buffer()
    buffer.append("rows", (1,))
    buffer._lock.acquire()  # as a thread of the parent may, at the moment of the fork
    buffer.forget()
    buffer.append("rows", (2,))
    assert buffer.take()["rows"] == [] and buffer.num_rows == 0 and buffer.drops == {"rows": 1}


class CarelessBuffer(RowBuffer):
    """Control arm: what was taken out is forgotten, not settled."""

    def settle(self, table, num_written, num_lost):
        self._num_rows = 0


def shared_by_threads(buffer, num_threads=4, num_rows=5_000):
    """Several threads append while one takes; returns what it took and whether the books are right."""
    taken, is_over = Counter(), threading.Event()

    def take():
        while True:
            is_last = is_over.is_set()
            rows = buffer.take()["rows"]
            taken.update(rows)
            buffer.settle("rows", len(rows), 0)
            if is_last:
                return

    def add(thread):
        for number in range(num_rows):
            buffer.append("rows", (thread, number))

    taker, adders = threading.Thread(target=take), [threading.Thread(target=add, args=(n,)) for n in range(num_threads)]
    for thread in (taker, *adders):
        thread.start()
    for thread in adders:
        thread.join()
    is_over.set()
    taker.join()
    return taken, num_threads * num_rows


def test_between_threads_every_row_is_taken_once_or_counted_as_dropped():
    buffer = make_buffer(most_rows=500)
    taken, num_added = shared_by_threads(buffer)
    assert set(taken.values()) == {1}
    assert taken.total() + buffer.drops.get("rows", 0) == num_added and buffer.num_rows == 0


def test_rows_that_are_not_settled_exactly_break_the_bound():
    """The control of the bound: rows still being written no longer count."""
    buffer = make_buffer(most_rows=2, kind=CarelessBuffer)
    buffer.append("rows", [(1,), (2,)])
    buffer.take()
    buffer.settle("rows", 1, 0)
    buffer.append("rows", [(3,), (4,)])
    assert buffer.drops == {}, "an exact buffer has room for one"
