"""Writes rows as a segment: one Parquet file, strictly by a declared schema, either complete or not there at all."""

import time
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from radixflow.schema.run_files.atomic_files import write_atomically
from radixflow.schema.tables.columns import sort_order

Row = tuple[Any, ...]
"""The values of one row, in the order of the declared columns."""

GROUP_ROWS = 100_000
"""Rows of one Parquet row group. A query for a window of rounds reads only the row groups that it touches."""
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
    """Make Arrow import now what it would import on first use (pandas, if installed), in the middle of a recording."""
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
