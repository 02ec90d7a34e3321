"""Rows to segments: a cheap append on the caller's thread; encoding and writing in a thread behind it."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from radixflow.schema.run_files.run_directory import WRITERS_FOLDER
from radixflow.schema.run_files.writer_hold import WriterHold
from radixflow.schema.segments.encoding import Row, warm_up
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing import live_writers
from radixflow.schema.writing.background_sync import BackgroundSync
from radixflow.schema.writing.fault_list import FaultList, reason_of
from radixflow.schema.writing.flush_pace import FlushPace
from radixflow.schema.writing.row_buffer import RowBuffer
from radixflow.schema.writing.segment_flusher import SegmentFlusher
from radixflow.schema.writing.writer_state import WriterLife, WriterState
from radixflow.schema.writing.writer_status import WriterStatus

FLUSH_SECONDS = 0.5
"""Time between two flushes: with the writing itself, a row is on the disk within a second even on a busy machine."""
FLUSH_ROWS = 50_000
"""Rows of one table that are written without waiting for the next flush, and most rows of a segment."""
MAXIMUM_PENDING_ROWS = 500_000
"""Rows of all tables that may wait in memory, about 100 MB; beyond, rows are dropped and counted."""


class SegmentWriter:
    """Writes the rows of one process into a run directory.

    It owns the thread that writes, and puts the parts together: rows wait in a :class:`RowBuffer`, a
    :class:`SegmentFlusher` writes them at a :class:`FlushPace`, a :class:`WriterStatus` tells readers how far that is,
    a :class:`WriterHold` that the process lives, and a :class:`WriterLife` knows what may still happen.

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

    Attributes:
        faults: What went wrong so far, a sentence each.
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
        self._maximum_pending_rows = maximum_pending_rows
        self._durable = durable
        declared = dict(ALL_TABLES if tables is None else tables)
        self._life = WriterLife()
        self._said = FaultList()
        self.faults = self._said.sentences
        self._pace = FlushPace(flush_seconds, self._is_open)
        self._sync = BackgroundSync(f"radixflow-{writer_name}-sync", self._stop) if durable else None
        self._buffer = RowBuffer(declared, maximum_pending_rows, FLUSH_ROWS, self._pace.wake)
        self.append = self._buffer.append  # type: ignore[method-assign]  # the same, with one call less
        self._flusher = SegmentFlusher(
            self.run_path, writer_name, declared, self._buffer, FLUSH_ROWS, self._said, self._sync_soon
        )
        self._status = WriterStatus(self.run_path, writer_name, self._counts)
        self._thread = threading.Thread(target=self._run, name=f"radixflow-{writer_name}", daemon=True)
        self._hold: WriterHold | None = None
        warm_up()
        live_writers.add(self)
        self._take_hold()
        self._write_status()
        self._thread.start()

    def append(self, table: str, rows: Row | list[Row]) -> None:
        """Add one row (a tuple in column order) or a list of rows; cheap, and never waits for the disk.

        Raises:
            KeyError: The table is not one of the writer's tables.
        """
        self._buffer.append(table, rows)

    def pull(self, table: str, source: Callable[[], list[Row]]) -> None:
        """Ask ``source`` for rows whenever what waits is written: for rows that are still growing until then.

        Args:
            table: One of the writer's tables.
            source: Called from the writer's thread; returns the rows it has and forgets them.
        """
        self._flusher.pull(table, source)

    def collect_by(self, collect: Callable[[], None]) -> None:
        """Call something that appends rows, several times a second and before each flush, in the writer's thread.

        Args:
            collect: Called until the writer is closed; it must not raise.
        """
        self._pace.collect_by(collect)

    def describe(self, **facts: Any) -> None:
        """Add facts (JSON values) to what the writer says of itself in ``writers/<writer>.json``."""
        self._status.describe(**facts)

    def describe_by(self, source: Callable[[], dict[str, Any]]) -> None:
        """Ask ``source`` for more such facts whenever they are written: for facts that change with every round.

        Args:
            source: Called from the writer's thread.
        """
        self._status.describe_by(source)

    @property
    def drops(self) -> dict[str, int]:
        """Rows lost so far, by table; only tables that lost any."""
        return self._buffer.drops

    @property
    def rows_written(self) -> dict[str, int]:
        """Rows in complete segments so far, by table; only tables that have any."""
        return self._flusher.rows_written

    @property
    def status(self) -> dict[str, Any]:
        """What the writer says of itself, as in ``writers/<writer>.json``."""
        return self._status.as_dict()

    def close(self, timeout: float = 30.0, fault: str | None = None) -> bool:
        """Write what is pending, merge small segments, and end; calling it again is harmless.

        Args:
            timeout: Seconds to wait for the disk; the end goes on behind the caller's back where it takes longer.
            fault: Why the recording ends before what it records does: kept in :attr:`faults`, and the writer does not
                call itself closed.

        Returns:
            Whether everything pending was written and the writer is closed.
        """
        self._buffer.shut()  # before the state says so: the thread, which reads that, then finds every row in its place
        if fault is not None:
            self.faults.append(fault)
            self._life.become(WriterState.ENDED_EARLY)
        else:
            self._life.become(WriterState.ENDING)
        if self._life.state is WriterState.SILENT_CHILD:
            return False  # the thread, the hold and the files are the parent's
        self._pace.wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        if not self._thread.is_alive():
            self._end()
        return self._life.state is WriterState.CLOSED

    def __enter__(self) -> "SegmentWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._is_open():
                self._pace.wait()
                self._flush()
                self._write_status()
            self._flush()
            if self._sync is not None:
                self._sync.finish()
            self._life.become(WriterState.CLOSED)
            self._write_status(self._durable)
            if not self._life.state.is_given_up:  # after the status: a process killed while it merges has closed
                self._flusher.merge_segments(self._durable)
        except BaseException as error:  # whatever it is, the engine must not feel it
            self._stop(error)

    def _flush(self) -> None:
        self._flusher.flush()
        if self._buffer.has_overrun:
            waiting = f"{self._maximum_pending_rows:,} rows wait to be written"
            sentence = f"{self.writer_name} drops rows, and counts them, while {waiting} to {self.run_path.name}"
            self._said.say_once("overrun", sentence)

    def _is_open(self) -> bool:
        return self._life.state is WriterState.OPEN

    def _sync_soon(self, path: Path) -> None:
        if self._sync is not None:
            self._sync.add([path])

    # -- its status, its hold, its end -------------------------------------------------------------------------------

    def _counts(self) -> dict[str, Any]:
        return {
            "rows_written": self._flusher.rows_written,
            "bytes_written": self._flusher.bytes_written,
            "drops": self._buffer.drops,
            "faults": list(self.faults),
            "closed": self._life.state is WriterState.CLOSED,
        }

    def _write_status(self, durable: bool = False) -> None:
        if not self._life.state.owns_its_files:
            return
        try:
            self._status.write(durable)
        except (OSError, TypeError, ValueError) as error:
            self._stop(error)

    def _take_hold(self) -> None:
        folder = self.run_path / WRITERS_FOLDER
        try:
            folder.mkdir(exist_ok=True)
            self._hold = WriterHold(folder, self.writer_name)
        except BlockingIOError:
            self._stop(OSError(f"another process writes as {self.writer_name}"), WriterState.NAME_TAKEN)
        except OSError:  # the status, which is written next, meets the same and tells of it
            pass

    def _stop(self, error: BaseException, state: WriterState = WriterState.STOPPED_BY_FAULT) -> None:
        """End the writing for good; what waits in memory is given up and counted."""
        self._buffer.give_up()
        if not self._life.become(state):
            return  # it has stopped before, and has said why
        self._said.say(f"{self.writer_name} stopped writing to {self.run_path.name}: {reason_of(error)}")
        if self._hold is not None:
            self._hold.free_room()  # for the status, should the disk be full
        self._write_status()

    def _end(self) -> None:
        """Give back the hold and end the syncing: the thread has ended."""
        if self.faults:
            self._write_status()  # with the rows that were dropped since
        live_writers.discard(self)
        if self._sync is not None:
            self._sync.end()
        if self._hold is not None:
            self._hold.end()

    def become_silent(self) -> None:
        """In a forked child: the thread is not there and a lock may be held for ever; the parent does the writing."""
        self._life.become_silent_child()
        self._buffer.forget()
        self._status.renew_lock()
        if self._hold is not None:
            self._hold.forget()
