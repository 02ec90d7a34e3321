"""A table of the opened runs: a DuckDB view over the files of its segments."""

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa

_PATTERN = re.compile(r"[*?[]")


def table_view(table: str, schema: pa.Schema, files: Mapping[int, Sequence[str]], kind: str = "VIEW") -> str:
    """Return the statement that makes, or replaces, the view over the files of a table.

    Args:
        table: Name of the table.
        schema: Its declared schema.
        files: Paths of its segments, by number of the run.
        kind: ``VIEW``, or ``TEMP VIEW`` for one that only the cursor sees that makes it.
    """
    columns = ", ".join(f'"{name}"' for name in schema.names)
    empty = ", ".join(f'NULL::{_sql_type(field.type)} AS "{field.name}"' for field in schema)
    parts = [f"SELECT NULL::INTEGER AS run, {empty} WHERE false"]
    parts += [
        f"SELECT {number}::INTEGER AS run, {columns} FROM read_parquet([{_file_list(found)}])"
        for number, found in files.items()
        if found
    ]
    return f"CREATE OR REPLACE {kind} {table} AS " + " UNION ALL ".join(parts)


def _file_list(paths: Sequence[str]) -> str:
    """Quote file names for ``read_parquet``, which takes ``*``, ``?`` and ``[`` in a name for a pattern."""
    names = (_PATTERN.sub(r"[\g<0>]", path).replace("'", "''") for path in paths)
    return ", ".join(f"'{name}'" for name in names)


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return "VARCHAR"
    return {pa.int16(): "SMALLINT", pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.uint64(): "UBIGINT"}[kind]
