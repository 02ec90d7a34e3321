"""Rows that wait in memory for the disk: bounded, thread-safe, and quick to add to."""

import threading
from collections.abc import Callable, Iterable

from radixflow.schema.segments.encoding import Row

_NO_ROOM = -1
"""The bound of a buffer that takes no more rows: not even an empty list is below it."""


class RowBuffer:
    """Keeps rows by table until somebody writes them, and counts those that it does not keep.

    Rows that were taken out to be written still count against the bound, since they are in memory until they are
    settled. So a disk that is slow cannot make the process grow.

    Args:
        tables: Names of the tables that rows may be added to.
        most_rows: Rows of all tables that may be in memory; those beyond are dropped and counted.
        rows_at_once: Rows of one table that are worth writing without waiting for more.
        on_full: Called after each :meth:`append` that finds so many of its table, in the thread of the caller.
    """

    def __init__(self, tables: Iterable[str], most_rows: int, rows_at_once: int, on_full: Callable[[], None]) -> None:
        self._waiting: dict[str, list[Row]] = {table: [] for table in tables}
        self._drops = dict.fromkeys(self._waiting, 0)
        self._num_rows = 0
        self._most_rows = most_rows
        self._rows_at_once = rows_at_once
        self._on_full = on_full
        self._has_overrun = False
        self._lock = threading.Lock()

    def append(self, table: str, rows: Row | list[Row]) -> None:
        """Add one row (a tuple in column order) or a list of rows; cheap, and never waits for the disk.

        Raises:
            KeyError: The table is not one of the buffer's tables.
        """
        if type(rows) is tuple:
            rows = [rows]
        num_rows = len(rows)
        with self._lock:
            waiting = self._waiting[table]
            if self._num_rows + num_rows > self._most_rows:
                self._drops[table] += num_rows
                self._has_overrun |= self._most_rows != _NO_ROOM
                return
            waiting.extend(rows)
            self._num_rows += num_rows
            is_full = len(waiting) >= self._rows_at_once
        if is_full:
            self._on_full()

    @property
    def num_rows(self) -> int:
        """Rows in memory: those that wait, and those taken out and not settled yet."""
        return self._num_rows

    @property
    def drops(self) -> dict[str, int]:
        """Rows lost so far, by table; only tables that lost any."""
        return {table: count for table, count in self._drops.items() if count}

    @property
    def has_overrun(self) -> bool:
        """Whether rows were ever dropped because too many were in memory; those that come after the end are not."""
        return self._has_overrun

    def take(self) -> dict[str, list[Row]]:
        """Take out everything that waits, as it is at one moment; each row has to be settled or given back."""
        with self._lock:
            taken, self._waiting = self._waiting, {table: [] for table in self._waiting}
        return taken

    def add_taken(self, num_rows: int) -> None:
        """Count rows that never waited here as taken out: they are in memory as well, and have to be settled."""
        with self._lock:
            self._num_rows += num_rows

    def settle(self, table: str, num_written: int, num_lost: int) -> None:
        """Rows that were taken out are no longer in memory: so many are on the disk, so many are lost."""
        with self._lock:
            self._drops[table] += num_lost
            self._num_rows -= num_written + num_lost

    def give_back(self, taken: dict[str, list[Row]]) -> None:
        """Put rows that were taken out, and neither written nor lost, before those that have come since."""
        with self._lock:
            for table, rows in taken.items():
                self._waiting[table] = rows + self._waiting[table]

    def shut(self) -> None:
        """Take no more rows: those that come are dropped and counted. What waits goes on waiting."""
        with self._lock:
            self._most_rows = _NO_ROOM

    def give_up(self) -> None:
        """Take no more rows, and drop and count those that wait."""
        with self._lock:
            self._most_rows = _NO_ROOM
            for table, rows in self._waiting.items():
                self._drops[table] += len(rows)
                self._num_rows -= len(rows)
                rows.clear()

    def forget(self) -> None:
        """In a forked child: be empty and shut. The rows are the parent's, and one of its threads may hold the lock."""
        self._lock = threading.Lock()
        self._most_rows = _NO_ROOM
        self._num_rows = 0
        self._waiting = {table: [] for table in self._waiting}
