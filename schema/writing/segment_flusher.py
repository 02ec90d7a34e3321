"""From the rows that wait to numbered segments of a run."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

from radixflow.schema.run_files.segment_names import SegmentName
from radixflow.schema.segments.compaction import compact_segments
from radixflow.schema.segments.encoding import Row, encode_rows, write_segment
from radixflow.schema.writing.fault_list import FaultList
from radixflow.schema.writing.row_buffer import RowBuffer

_WRITTEN_LAST = ("requests", "rounds")
"""What these say of other tables is on the disk before them, even where the process is killed in between."""


class SegmentFlusher:
    """Encodes and writes what waits in a buffer. One thread flushes at a time.

    Numbers go on behind the segments that the run has under this name already.

    Args:
        run_path: The run directory. It is never made anew: a run that was removed stays removed.
        writer_name: Name of the writer in the run.
        tables: Declared schema of each table.
        buffer: Where rows wait, and where what became of them is counted.
        most_rows: Most rows of a segment.
        faults: Where it is said that rows of a table do not fit, once a table.
        on_written: Called with each segment that is complete.

    Attributes:
        bytes_written: Size of the segments so far.
    """

    def __init__(
        self,
        run_path: Path,
        writer_name: str,
        tables: Mapping[str, pa.Schema],
        buffer: RowBuffer,
        most_rows: int,
        faults: FaultList,
        on_written: Callable[[Path], None],
    ) -> None:
        self.bytes_written = 0
        self._run_path = run_path
        self._writer_name = writer_name
        self._tables = tables
        self._buffer = buffer
        self._most_rows = most_rows
        self._faults = faults
        self._on_written = on_written
        self._sources: dict[str, Callable[[], list[Row]]] = {}
        self._rows_written = dict.fromkeys(tables, 0)
        self._next_number = {table: self._first_number(table) for table in tables}

    @property
    def rows_written(self) -> dict[str, int]:
        """Rows in complete segments so far, by table; only tables that have any."""
        return {table: count for table, count in self._rows_written.items() if count}

    def pull(self, table: str, source: Callable[[], list[Row]]) -> None:
        """Ask ``source`` for rows of a table at each flush; it returns those that it has, and forgets them."""
        self._sources = {**self._sources, table: source}  # a new one: a flush may be going through the other

    def flush(self) -> None:
        """Write all that waits, as it is at one moment, each table after those that explain its rows.

        Raises:
            OSError: The disk fails. What was not tried waits again; a segment that was tried and failed is lost.
        """
        taken = self._buffer.take()
        try:
            for table, source in self._sources.items():  # last, so that no row waits for one of these
                self._add_pulled(taken[table], source())
            for table in sorted(taken, key=lambda table: table in _WRITTEN_LAST):
                while taken[table]:
                    part, taken[table] = taken[table][: self._most_rows], taken[table][self._most_rows :]
                    self._write(table, part)
        except BaseException:
            self._buffer.give_back(taken)
            raise

    def merge_segments(self, durable: bool) -> None:
        """Merge small segments of this writer to few; ``durable`` as for a writer. Nothing may be flushed after it."""
        for table, schema in self._tables.items():
            compact_segments(self._run_path / table, self._writer_name, schema, durable)

    def _add_pulled(self, taken: list[Row], rows: list[Row]) -> None:
        taken += rows
        self._buffer.add_taken(len(rows))

    def _write(self, table: str, rows: list[Row]) -> None:
        num_written = 0
        try:
            encoded, misfits = encode_rows(rows, self._tables[table])
            if misfits:
                self._faults.say_once(("misfit", table), f"rows of {table} are lost: {misfits[0]}")
            if encoded.num_rows:
                self._write_segment(table, encoded)
                num_written = encoded.num_rows
        finally:
            self._rows_written[table] += num_written
            self._buffer.settle(table, num_written, len(rows) - num_written)

    def _write_segment(self, table: str, encoded: pa.Table) -> None:
        folder = self._run_path / table
        folder.mkdir(exist_ok=True)  # not its parents: a run that was removed is not made again
        number = self._next_number[table]
        path = folder / str(SegmentName(self._writer_name, number, number))
        write_segment(path, encoded, durable=False)
        self.bytes_written += path.stat().st_size
        self._next_number[table] += 1
        self._on_written(path)

    def _first_number(self, table: str) -> int:
        names = [SegmentName.parse(path.name) for path in (self._run_path / table).glob("*.parquet")]
        return max((name.last for name in names if name and name.writer == self._writer_name), default=-1) + 1
