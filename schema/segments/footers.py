"""Reads the footer of a segment, and says whether the file belongs to the table with a declared schema."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from radixflow.schema.run_files.segment_names import SegmentName

_MAGIC = b"PAR1"
_TAIL = 2**14
"""Bytes read at once from the end of a file: a footer of a few row groups."""
_ARROW_SCHEMA = b"ARROW:schema"
_seen_good: set[tuple[bytes | None, int, bytes | None]] = set()
"""Tables, numbers of columns and stored schemas that were found to be as declared."""
_UNREADABLE = "is not a readable Parquet file, it may be cut short ({})."


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
    """Decode every column chunk of a file, since data can be damaged although the footer is intact.

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
