"""Segments: rows encoded by a declared schema, written to one Parquet file, and recognised when they come back."""

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from radixflow.schema.atomic_files import write_atomically
from radixflow.schema.columns import sort_order
from radixflow.schema.segment_names import SegmentName

Row = tuple[Any, ...]
"""The values of one row, in the order of the declared columns."""

GROUP_ROWS = 100_000
"""Rows of a row group: a window of rounds reads the groups that it touches and no more of a table."""
_MAGIC = b"PAR1"
_TAIL = 2**14
"""Bytes read at once from the end of a file: a footer of a few row groups."""
_ARROW_SCHEMA = b"ARROW:schema"
_seen_good: set[tuple[bytes | None, int, bytes | None]] = set()
"""Tables, numbers of columns and stored schemas that were found to be as declared."""
_UNREADABLE = "is not a readable Parquet file, it may be cut short ({})."
_CHUNK_ROWS = 1_000
"""Rows encoded in one go: short, because the interpreter lock is held while Arrow reads Python values."""


def encode_rows(rows: Sequence[Row], schema: pa.Schema) -> tuple[pa.Table, list[str]]:
    """Encode rows strictly by a declared schema.

    Args:
        rows: Tuples in column order.
        schema: The declared schema: types must fit without loss, and only nullable columns may be None.

    Returns:
        The table, and one sentence for each row that does not fit; those rows are left out, the others kept.
    """
    batches: list[pa.RecordBatch] = []
    misfits: list[str] = []
    for start in range(0, len(rows), _CHUNK_ROWS):
        chunk = rows[start : start + _CHUNK_ROWS]
        try:
            batches.append(_encode_chunk(chunk, schema))
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            for row in chunk:
                try:
                    batches.append(_encode_chunk([row], schema))
                except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
                    misfits.append(f"a row does not fit: {error}")
    table = pa.Table.from_batches(batches, schema=schema)
    return table.unify_dictionaries().combine_chunks(), misfits


def warm_up() -> None:
    """Let Arrow import what it imports on first use (pandas, where installed): at the start, not amid a recording."""
    pa.array([0])


def write_segment(path: Path, table: pa.Table, durable: bool = True, is_merged: bool = False) -> None:
    """Write one segment: zstd, row groups of ``GROUP_ROWS``, whole or not at all.

    Integers are stored as differences to their neighbours: times and numbers grow along a table. Against dictionaries
    of them that is two fifths smaller, and quicker to write and to read. Hashes have no neighbours.

    Args:
        path: Name of the file.
        table: Its rows.
        durable: Whether it must survive a power cut (synced), not only the death of the process.
        is_merged: Whether to sort the rows as their table is declared. A segment of half a second is one row group,
            of which a query reads all or nothing anyway.

    Raises:
        OSError: The folder is gone, full or not writable.
    """
    names = [field.name for field in table.schema if not pa.types.is_integer(field.type)]
    differences = [name for name in table.schema.names if name not in names and not name.endswith("_hash")]
    order = sort_order(table.schema) if is_merged else []
    ordered = table.sort_by(order) if order else table
    said = pq.SortingColumn.from_ordering(table.schema, order) if order else None

    def write(temporary: Path) -> None:
        pq.write_table(
            ordered, temporary, compression="zstd", row_group_size=GROUP_ROWS, sorting_columns=said,
            use_dictionary=names, column_encoding=dict.fromkeys(differences, "DELTA_BINARY_PACKED"),
        )  # fmt: skip

    write_atomically(path, write, durable)


@dataclass(frozen=True)
class Segment:
    """One file in the folder of a table.

    Attributes:
        path: The file.
        num_rows: Rows in it; 0 when it is no segment of the table.
        minimum: Least value of the column asked for, where the file knows it.
        rounds: First and last round in it, where the file knows them.
        digest: Of the footer (places, sizes and statistics of all column chunks), the size, and the time of the last
            change; empty when it is no segment.
        fault: Why it is no segment of the table, to follow its name in a sentence; None when it is one.
    """

    path: Path
    num_rows: int = 0
    minimum: int | None = None
    rounds: tuple[int, int] | None = None
    digest: str = ""
    fault: str | None = None

    @property
    def writer(self) -> str:
        """Name of the writer process, from the file name."""
        name = SegmentName.parse(self.path.name)
        return name.writer if name else self.path.stem


def read_segment(path: Path, schema: pa.Schema, minimum_of: str | None = None) -> Segment:
    """Read the footer of a file and say whether it is a segment of the table with this schema.

    Args:
        path: The file.
        schema: The declared schema; names, types, order and nullability must be the same.
        minimum_of: Column whose least value is wanted; passed over where the table has none of this name.
    """
    try:
        footer, version = _footer(path)
        metadata = pq.read_metadata(pa.BufferReader(_MAGIC + footer))
        fault = _schema_fault(metadata, schema)
    except (pa.ArrowException, OSError, ValueError) as error:
        return Segment(path, fault=_UNREADABLE.format(_first_line(error)))
    if fault:
        return Segment(path, fault=fault)
    minimum = _minimum(metadata, minimum_of) if minimum_of in schema.names else None
    digest = hashlib.blake2b(footer + version, digest_size=16).hexdigest()
    return Segment(path, metadata.num_rows, minimum, _rounds(metadata), digest)


def _footer(path: Path) -> tuple[bytes, bytes]:
    """Read the footer, its length and the closing magic word, and the size and time of the file; nothing else."""
    with open(path, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        end = os.pread(file.fileno(), _TAIL, max(0, status.st_size - _TAIL))
        if end[-4:] != _MAGIC or len(end) < 12:
            raise ValueError("no Parquet magic bytes at its end")
        length = int.from_bytes(end[-8:-4], "little") + 8
        if length + len(_MAGIC) > status.st_size:
            raise ValueError("its footer is longer than the file")
        if length > len(end):
            end = os.pread(file.fileno(), length, status.st_size - length)
    return end[-length:], f"{status.st_size} {status.st_mtime_ns}".encode()


def _schema_fault(metadata: pq.FileMetaData, declared: pa.Schema) -> str | None:
    """Say what is wrong with the schema of a file; a recording has thousands of files with the very same one."""
    stored = (declared.metadata or {}).get(b"table"), metadata.num_columns, (metadata.metadata or {}).get(_ARROW_SCHEMA)
    if stored in _seen_good:
        return None
    found = metadata.schema.to_arrow_schema()
    if not found.equals(declared, check_metadata=False):
        return _schema_difference(found, declared)
    if None not in stored:
        _seen_good.add(stored)
    return None


def decoding_fault(path: Path) -> str | None:
    """Decode every column chunk of a file: behind a footer that is whole it can be damaged, too.

    Returns:
        Why it cannot be read, to follow its name in a sentence; None when it can, whatever its schema.
    """
    try:
        metadata = pq.read_metadata(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        return _UNREADABLE.format(_first_line(error))
    try:
        with pq.ParquetFile(path, metadata=metadata) as file:
            for group in range(file.metadata.num_row_groups):
                file.read_row_group(group)
    except (pa.ArrowException, OSError, ValueError) as error:
        return f"is damaged, it cannot be decoded ({_first_line(error)})."
    return None


def _minimum(metadata: pq.FileMetaData, column: str | None) -> int | None:
    return min((low for low, _ in _extremes(metadata, column)), default=None)


def _rounds(metadata: pq.FileMetaData) -> tuple[int, int] | None:
    """Return the first and the last round of a file, unless one of its row groups does not know."""
    names = metadata.schema.names
    if "round" not in names or not metadata.num_row_groups:
        return None
    lows, highs = (_extremes(metadata, each) for each in ("round", "last_round" if "last_round" in names else "round"))
    if min(len(lows), len(highs)) < metadata.num_row_groups:
        return None
    return min(low for low, _ in lows), max(high for _, high in highs)


def _extremes(metadata: pq.FileMetaData, column: str | None) -> list[tuple[int, int]]:
    """Return least and greatest value of a column in each row group that knows them."""
    index = metadata.schema.names.index(column)
    said = [metadata.row_group(group).column(index).statistics for group in range(metadata.num_row_groups)]
    return [(each.min, each.max) for each in said if each and each.has_min_max]


def _encode_chunk(rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
    arrays = []
    for field, values in zip(schema, zip(*rows, strict=True), strict=True):
        if pa.types.is_integer(field.type):
            _require_integers(field.name, values)  # Arrow cuts 1.5 to 1 without a word
        array = pa.array(values, type=field.type)
        if array.null_count and not field.nullable:
            raise ValueError(f"column {field.name!r} may not be NULL")
        arrays.append(array)
        time.sleep(0)  # hand the interpreter lock to the scheduler if it waits for it
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _require_integers(name: str, values: tuple[Any, ...]) -> None:
    for kind in set(map(type, values)):
        if not (kind is type(None) or issubclass(kind, Integral)):
            raise TypeError(f"column {name!r} holds integers, not {kind.__name__}")


def _schema_difference(found: pa.Schema, declared: pa.Schema) -> str:
    missing = [name for name in declared.names if name not in found.names]
    foreign = [name for name in found.names if name not in declared.names]
    if missing or foreign:
        parts = [f"lacks {', '.join(missing)}"] if missing else []
        parts += [f"has the unknown {', '.join(foreign)}"] if foreign else []
        return f"has other columns than declared: {' and '.join(parts)}."
    for field in declared:
        other = found.field(field.name)
        if other.type != field.type:
            return f"has {field.name} as {other.type} instead of {field.type}."
        if other.nullable != field.nullable:
            return f"has {field.name} {'nullable' if other.nullable else 'not nullable'}, against its declaration."
    return "has its columns in another order than declared."


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
