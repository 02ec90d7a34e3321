"""Rows to segments: a cheap append on the caller's thread; encoding and writing in a thread behind it."""

import atexit
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from radixflow.schema.run_files.atomic_files import write_json_atomically
from radixflow.schema.run_files.run_directory import WRITERS_FOLDER
from radixflow.schema.run_files.segment_names import SegmentName
from radixflow.schema.run_files.writer_hold import WriterHold
from radixflow.schema.segments.compaction import compact_segments
from radixflow.schema.segments.encoding import Row, encode_rows, warm_up, write_segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing.background_sync import BackgroundSync

FLUSH_SECONDS = 0.5
"""Time between two flushes: with the writing itself, a row is on the disk within a second even on a busy machine."""
FLUSH_ROWS = 50_000
"""Rows of one table that are written without waiting for the next flush, and most rows of a segment."""
LEAST_PAUSE_SECONDS = 0.05
"""A disk that is too slow for the flushes is left alone for this long between two."""
COLLECT_SECONDS = 0.1
"""Time between two calls of what makes rows in the writer's thread."""
MAXIMUM_PENDING_ROWS = 500_000
"""Rows of all tables that may wait in memory, about 100 MB; beyond, rows are dropped and counted."""


class SegmentWriter:
    """Writes the rows of one process into a run directory.

    ``append`` never raises for a fault of the disk and never waits for it. The first such fault ends the writing: it is
    kept in :attr:`faults`, said once on stderr, and rows from then on are counted as dropped. In a forked child the
    writer is silent; the parent goes on.

    Args:
        run_path: An existing run directory.
        writer_name: Name of the process in the run: ``client``, ``engine``, ``worker0``, ...
        tables: Tables that may be written; by default all declared ones.
        maximum_pending_rows: Rows of all tables that may wait in memory.
        flush_seconds: Longest time between two flushes.
        durable: Whether segments are synced, soon after they are written, to survive a power cut; they survive the
            death of the process in any case.
    """

    def __init__(
        self,
        run_path: Path | str,
        writer_name: str,
        tables: Mapping[str, pa.Schema] | None = None,
        maximum_pending_rows: int = MAXIMUM_PENDING_ROWS,
        flush_seconds: float = FLUSH_SECONDS,
        durable: bool = True,
    ) -> None:
        self.run_path = Path(run_path)
        self.writer_name = writer_name
        self.faults: list[str] = []
        self._tables = dict(ALL_TABLES if tables is None else tables)
        self._maximum_pending_rows = maximum_pending_rows
        self._flush_seconds = flush_seconds
        self._durable = durable
        self._facts: dict[str, Any] = {}
        self._fact_source: Callable[[], dict[str, Any]] = dict
        self._sources: dict[str, Callable[[], list[Row]]] = {}
        self._collect: Callable[[], None] | None = None
        self._pending: dict[str, list[Row]] = {table: [] for table in self._tables}
        self._num_pending = 0
        self._rows_written = dict.fromkeys(self._tables, 0)
        self._bytes_written = 0
        self._drops = dict.fromkeys(self._tables, 0)
        self._tables_with_misfits: set[str] = set()
        self._sequence = {table: self._next_sequence(table) for table in self._tables}
        self._accepting = True
        self._stopped_by_fault = False
        self._ends_early = False
        self._is_overrun = False
        self._overrun_is_said = False
        self._is_name_taken = False
        self._closed = False
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"radixflow-{writer_name}", daemon=True)
        self._sync = BackgroundSync(f"radixflow-{writer_name}-sync", self._stop) if durable else None
        warm_up()
        _LIVE_WRITERS.add(self)
        self._hold: WriterHold | None = None
        self._take_hold()
        self._write_status()
        self._thread.start()

    def append(self, table: str, rows: Row | list[Row]) -> None:
        """Add one row (a tuple in column order) or a list of rows; cheap, and never waits for the disk.

        Raises:
            KeyError: The table is not one of the writer's tables.
        """
        if type(rows) is tuple:
            rows = [rows]
        num_rows = len(rows)
        with self._lock:
            pending = self._pending[table]
            if not self._accepting or self._num_pending + num_rows > self._maximum_pending_rows:
                self._drops[table] += num_rows
                self._is_overrun |= self._accepting
                return
            pending.extend(rows)
            self._num_pending += num_rows
            is_full = len(pending) >= FLUSH_ROWS
        if is_full:
            self._wake.set()

    def pull(self, table: str, source: Callable[[], list[Row]]) -> None:
        """Ask ``source`` for rows whenever what waits is written: for rows that are still growing until then.

        Args:
            table: One of the writer's tables.
            source: Called from the writer's thread; returns the rows it has and forgets them.
        """
        self._sources[table] = source

    def collect_by(self, collect: Callable[[], None]) -> None:
        """Call something that appends rows, several times a second and before each flush, in the writer's thread.

        Args:
            collect: Called until the writer is closed; it must not raise.
        """
        self._collect = collect
        self._wake.set()  # so far, the thread has only looked at the next flush

    def describe(self, **facts: Any) -> None:
        """Add facts (JSON values) to what the writer says of itself in ``writers/<writer>.json``."""
        with self._lock:
            self._facts.update(facts)

    def describe_by(self, source: Callable[[], dict[str, Any]]) -> None:
        """Ask ``source`` for more such facts whenever they are written: for facts that change with every round.

        Args:
            source: Called from the writer's thread.
        """
        self._fact_source = source

    @property
    def drops(self) -> dict[str, int]:
        """Rows lost so far, by table; only tables that lost any."""
        return {table: count for table, count in self._drops.items() if count}

    @property
    def rows_written(self) -> dict[str, int]:
        """Rows in complete segments so far, by table; only tables that have any."""
        return {table: count for table, count in self._rows_written.items() if count}

    @property
    def status(self) -> dict[str, Any]:
        """What the writer says of itself, as in ``writers/<writer>.json``."""
        with self._lock:
            return {
                "writer": self.writer_name,
                "pid": os.getpid(),
                **self._facts,
                **self._fact_source(),
                "rows_written": self.rows_written,
                "bytes_written": self._bytes_written,
                "drops": self.drops,
                "faults": list(self.faults),
                "closed": self._closed,
            }

    def close(self, timeout: float = 30.0, fault: str | None = None) -> bool:
        """Write what is pending, merge small segments, and end; calling it again is harmless.

        Args:
            timeout: Seconds to wait for the disk; the end goes on behind the caller's back where it takes longer.
            fault: Why the recording ends before what it records does: kept in :attr:`faults`, and the writer does not
                call itself closed.

        Returns:
            Whether everything pending was written and the writer is closed.
        """
        if fault is not None:
            self.faults.append(fault)
            self._ends_early, self._closed = True, False
        with self._lock:
            self._accepting = False
        self._wake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        if not self._thread.is_alive():
            if self._stopped_by_fault or self.faults:
                self._write_status()  # with the rows that were dropped since
            _LIVE_WRITERS.discard(self)
            if self._sync is not None:
                self._sync.end()
            if self._hold is not None:
                self._hold.end()
        return self._closed

    def __enter__(self) -> "SegmentWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        next_flush = time.monotonic() + self._flush_seconds
        try:
            while self._accepting:
                self._wait(next_flush)
                next_flush = time.monotonic() + self._flush_seconds
                self._flush()
                self._say_overrun()
                self._write_status()
            self._flush()
            self._say_overrun()
            if self._sync is not None:
                self._sync.finish()
            self._closed = not (self._stopped_by_fault or self._ends_early)
            self._write_status(self._durable)
            if not self._stopped_by_fault:  # after the status: a process that is killed while it merges has closed
                for table, schema in self._tables.items():
                    compact_segments(self.run_path / table, self.writer_name, schema, self._durable)
        except BaseException as error:  # whatever it is, the engine must not feel it
            self._stop(error)

    def _wait(self, next_flush: float) -> None:
        """Wait for the next flush, or for many rows, and have rows made meanwhile."""
        pause = max(LEAST_PAUSE_SECONDS, next_flush - time.monotonic())
        while self._collect is not None and self._accepting:
            is_woken = self._wake.wait(min(pause, COLLECT_SECONDS))
            self._collect()
            pause = next_flush - time.monotonic()
            if is_woken or pause <= 0:
                break
        else:
            self._wake.wait(pause)
        self._wake.clear()

    def _flush(self) -> None:
        """Write all that is pending, as it was at one moment, each table after those that explain its rows."""
        with self._lock:
            taken, self._pending = self._pending, {table: [] for table in self._tables}
        try:
            for table, source in self._sources.items():  # last, so that no row waits for one of these
                self._add_pulled(taken[table], source())
            for table in sorted(taken, key=lambda table: table in _WRITTEN_LAST):
                while taken[table]:
                    part, taken[table] = taken[table][:FLUSH_ROWS], taken[table][FLUSH_ROWS:]
                    self._write_rows(table, part)
        except BaseException:
            with self._lock:  # what was not tried is counted as dropped with the rest
                for table, rows in taken.items():
                    self._pending[table] = rows + self._pending[table]
            raise

    def _say_overrun(self) -> None:
        if self._is_overrun and not self._overrun_is_said:
            self._overrun_is_said = True
            waiting = f"{self._maximum_pending_rows:,} rows wait to be written"
            self._say(f"{self.writer_name} drops rows, and counts them, while {waiting} to {self.run_path.name}")

    def _add_pulled(self, taken: list[Row], rows: list[Row]) -> None:
        taken += rows
        with self._lock:
            self._num_pending += len(rows)

    def _write_rows(self, table: str, rows: list[Row]) -> None:
        num_written = 0
        try:
            encoded, misfits = encode_rows(rows, self._tables[table])
            if misfits and table not in self._tables_with_misfits:
                self._tables_with_misfits.add(table)
                self._say(f"rows of {table} are lost: {misfits[0]}")
            if encoded.num_rows:
                path = self._segment_path(table)
                write_segment(path, encoded, durable=False)
                self._bytes_written += path.stat().st_size
                self._sequence[table] += 1
                if self._sync is not None:
                    self._sync.add([path])
                num_written = encoded.num_rows
        finally:
            with self._lock:
                self._rows_written[table] += num_written
                self._drops[table] += len(rows) - num_written
                self._num_pending -= len(rows)

    def _segment_path(self, table: str) -> Path:
        folder = self.run_path / table
        folder.mkdir(exist_ok=True)  # not its parents: a run that was removed is not made again
        number = self._sequence[table]
        return folder / str(SegmentName(self.writer_name, number, number))

    def _next_sequence(self, table: str) -> int:
        names = [SegmentName.parse(path.name) for path in (self.run_path / table).glob("*.parquet")]
        return max((name.last for name in names if name and name.writer == self.writer_name), default=-1) + 1

    def _take_hold(self) -> None:
        folder = self.run_path / WRITERS_FOLDER
        try:
            folder.mkdir(exist_ok=True)
            self._hold = WriterHold(folder, self.writer_name)
        except BlockingIOError:
            self._is_name_taken = True
            self._stop(OSError(f"another process writes as {self.writer_name}"))
        except OSError:  # the status, which is written next, meets the same and tells of it
            pass

    def _write_status(self, durable: bool = False) -> None:
        if self._is_name_taken:
            return  # the file is the other process's
        folder = self.run_path / WRITERS_FOLDER
        try:
            folder.mkdir(exist_ok=True)
            write_json_atomically(folder / f"{self.writer_name}.json", self.status, durable)
        except (OSError, TypeError, ValueError) as error:
            self._stop(error)

    def _stop(self, error: BaseException) -> None:
        """End the writing for good; what waits in memory is given up and counted."""
        with self._lock:
            already_stopped, self._stopped_by_fault = self._stopped_by_fault, True
            self._accepting = False
            for table, rows in self._pending.items():
                self._drops[table] += len(rows)
                self._num_pending -= len(rows)
                rows.clear()
        if already_stopped:
            return
        self._say(f"{self.writer_name} stopped writing to {self.run_path.name}: {_reason(error)}")
        self._closed = False
        if self._hold is not None:
            self._hold.free_room()  # for the status, should the disk be full
        self._write_status()

    def _say(self, sentence: str) -> None:
        self.faults.append(sentence)
        with suppress(OSError, ValueError):  # stderr may be closed
            print(f"radixflow: {sentence}", file=sys.stderr, flush=True)

    def _become_silent(self) -> None:
        """In a forked child: the thread is not there and the lock may be held for ever; the parent does the writing."""
        self._lock = threading.Lock()
        self._accepting = False
        self._num_pending = 0
        self._pending = {table: [] for table in self._tables}
        if self._hold is not None:
            self._hold.forget()


_WRITTEN_LAST = ("requests", "rounds")
"""What these say of other tables is on the disk before them, even where the process is killed in between."""

_LIVE_WRITERS: "weakref.WeakSet[SegmentWriter]" = weakref.WeakSet()


def _silence_in_child() -> None:
    for writer in list(_LIVE_WRITERS):
        writer._become_silent()
    _LIVE_WRITERS.clear()


def _close_all() -> None:
    deadline = time.monotonic() + 10.0
    for writer in list(_LIVE_WRITERS):
        writer.close(max(0.0, deadline - time.monotonic()))


os.register_at_fork(after_in_child=_silence_in_child)
atexit.register(_close_all)


def _reason(error: BaseException) -> str:
    text = str(getattr(error, "strerror", None) or error) or type(error).__name__
    return text.rpartition("] ")[2] if "Detail: [errno" in text else text  # Arrow tells what it was doing as well
