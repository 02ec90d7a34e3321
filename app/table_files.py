"""Writes a table as a CSV or Parquet file for download."""

import io

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

_FORMULA = r"^([=+\-@\t\r])"
"""Pattern of texts that a spreadsheet would take for a formula."""


def as_csv(table: pa.Table) -> bytes:
    """Write a table as CSV in UTF-8 with a header; NULL is an empty cell.

    A text that a spreadsheet would take for a formula gets an apostrophe before it: names come from whoever sent the
    requests.
    """
    written = io.BytesIO()
    columns = [_flat(table[name]) for name in table.column_names]
    pyarrow.csv.write_csv(pa.Table.from_arrays(columns, names=table.column_names), written)
    return written.getvalue()


def as_parquet(table: pa.Table) -> bytes:
    """Write a table as Parquet, with its types as they are."""
    written = io.BytesIO()
    pyarrow.parquet.write_table(table, written)
    return written.getvalue()


def _flat(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_nested(kind):
        texts = [None if value is None else ", ".join(map(str, value)) for value in column.to_pylist()]
        column = pa.chunked_array([pa.array(texts, pa.string())])
    elif pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.replace_substring_regex(column, _FORMULA, r"'\1")
    return column
