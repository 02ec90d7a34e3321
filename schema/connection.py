"""Runs opened for questions: an in-memory DuckDB in which every table of the runs, and every view, can be queried."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.manifest import MANIFEST_NAME, Manifest
from radixflow.schema.run_content import read_content
from radixflow.schema.run_directory import RunDirectory
from radixflow.schema.run_records import FACT_COLUMNS, RUN_COLUMNS, run_facts, run_record
from radixflow.schema.segment_files import Segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.view_catalog import create_views

_FAULT_COLUMNS = {"run": "INTEGER", "table_name": "VARCHAR", "file_name": "VARCHAR", "sentence": "VARCHAR"}
_CONTENT_COLUMNS = {"run": "INTEGER", "path": "VARCHAR", "digest": "VARCHAR", "num_rows": "BIGINT"}
"""What the cache of summaries asks for, see ``summaries.py``."""
_PATTERN = re.compile(r"[*?[]")

Fault = tuple[int, str | None, str, str]
"""A row of ``segment_faults``."""


def open_runs(paths: Sequence[Path | str]) -> duckdb.DuckDBPyConnection:
    """Open runs together and return a connection with every table and view of the schema.

    Each table has a first column ``run``: the position of the run in ``paths``. What cannot be used (a segment that is
    truncated or of another schema, one run of another format version among others) is left out and named in the view
    ``segment_faults``. A run that is still being recorded is opened as it is now.

    Args:
        paths: Run directories.

    Raises:
        RadixflowError: A path is no run, or none of the runs can be read.
    """
    faults: list[Fault] = []
    runs: dict[int, tuple[RunDirectory, Manifest]] = {}
    refusals: list[RadixflowError] = []
    for number, path in enumerate(paths):
        run = RunDirectory(path)
        try:
            runs[number] = (run, run.manifest)
        except RadixflowError as error:
            if not (run.path / MANIFEST_NAME).exists():
                raise
            refusals.append(error)
            faults.append((number, None, MANIFEST_NAME, str(error)))
    if refusals and not runs:
        raise refusals[0]
    return _connect(runs, faults)


def open_nothing(with_comments: bool = False) -> duckdb.DuckDBPyConnection:
    """Return a connection with every table and view, all empty; with the comments of the views if asked for."""
    connection = duckdb.connect()
    for table, schema in ALL_TABLES.items():
        connection.execute(_table_view(table, schema, {}))
    _create_table(connection, "opened_runs", RUN_COLUMNS)
    _create_table(connection, "opened_facts", FACT_COLUMNS)
    _create_table(connection, "opened_faults", _FAULT_COLUMNS)
    _create_table(connection, "opened_contents", _CONTENT_COLUMNS)
    create_views(connection, with_comments)
    return connection


def _connect(runs: dict[int, tuple[RunDirectory, Manifest]], faults: list[Fault]) -> duckdb.DuckDBPyConnection:
    contents = {number: read_content(run, manifest) for number, (run, manifest) in runs.items()}
    faults += [(number, *fault) for number, content in contents.items() for fault in content.faults]
    # The views are made over empty tables, which are then replaced: binding them to files would take twice as long.
    connection = open_nothing()
    connection.execute("SET parquet_metadata_cache = true")
    for table, schema in ALL_TABLES.items():
        segments = {number: content.segments[table] for number, content in contents.items()}
        connection.execute(_table_view(table, schema, segments))
    records = [run_record(number, content) for number, content in contents.items()]
    _insert(connection, "opened_runs", [tuple(record[column] for column in RUN_COLUMNS) for record in records])
    facts = [fact for number, content in contents.items() for fact in run_facts(number, content.manifest)]
    _insert(connection, "opened_facts", facts)
    _insert(connection, "opened_faults", faults)
    found = [(number, str(runs[number][0].path.absolute()), *contents[number].version) for number in runs]
    _insert(connection, "opened_contents", found)
    return connection


def show_segments(connection: duckdb.DuckDBPyConnection, table: str, segments: dict[int, list[Segment]]) -> None:
    """Let a table hold the rows of these segments and no others.

    Args:
        connection: From :func:`open_nothing` or :func:`open_runs`.
        table: Name of the table.
        segments: Number of each run to its segments.
    """
    connection.execute(_table_view(table, ALL_TABLES[table], segments))


def _table_view(table: str, schema: pa.Schema, segments: dict[int, list[Segment]]) -> str:
    columns = ", ".join(f'"{name}"' for name in schema.names)
    empty = ", ".join(f'NULL::{_sql_type(field.type)} AS "{field.name}"' for field in schema)
    parts = [f"SELECT NULL::INTEGER AS run, {empty} WHERE false"]
    parts += [
        f"SELECT {number}::INTEGER AS run, {columns} FROM read_parquet([{_file_list(found)}])"
        for number, found in segments.items()
        if found
    ]
    return f"CREATE OR REPLACE VIEW {table} AS " + " UNION ALL ".join(parts)


def _file_list(segments: list[Segment]) -> str:
    """Quote file names for ``read_parquet``, which takes ``*``, ``?`` and ``[`` in a name for a pattern."""
    names = (_PATTERN.sub(r"[\g<0>]", str(segment.path)).replace("'", "''") for segment in segments)
    return ", ".join(f"'{name}'" for name in names)


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return "VARCHAR"
    return {pa.int16(): "SMALLINT", pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.uint64(): "UBIGINT"}[kind]


def _create_table(connection: duckdb.DuckDBPyConnection, table: str, columns: dict[str, str]) -> None:
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        one = f"({', '.join('?' * len(rows[0]))})"
        values = [value for row in rows for value in row]
        connection.execute(f"INSERT INTO {table} VALUES {', '.join([one] * len(rows))}", values)
