"""Opens runs for SQL queries: an in-memory DuckDB in which every table of the runs, and every view, can be queried."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.run_content import RunContent, read_content
from radixflow.schema.reading.run_records import FACT_COLUMNS, RUN_COLUMNS, run_facts, run_record
from radixflow.schema.reading.table_views import table_view
from radixflow.schema.reading.view_template import empty_database
from radixflow.schema.reading.windows import TABLES_BY_ROUND
from radixflow.schema.run_files.manifest import MANIFEST_NAME, Manifest
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.segments.footers import Segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.views.catalog import comment_statements, view_statements

_FAULT_COLUMNS = {"run": "INTEGER", "table_name": "VARCHAR", "file_name": "VARCHAR", "sentence": "VARCHAR"}
_CONTENT_COLUMNS = {"run": "INTEGER", "path": "VARCHAR", "digest": "VARCHAR", "num_rows": "BIGINT"}
"""What the cache of summaries asks for, see ``summaries.py``."""
_SEGMENT_COLUMNS = {
    "table_name": "VARCHAR", "run": "INTEGER", "path": "VARCHAR", "first_round": "BIGINT", "last_round": "BIGINT",
}  # fmt: skip
_LISTED = {
    "table_name": pa.string(), "run": pa.int32(), "path": pa.string(), "first_round": pa.int64(),
    "last_round": pa.int64(),
}  # fmt: skip

_OPENED = {
    "opened_runs": RUN_COLUMNS, "opened_facts": FACT_COLUMNS, "opened_faults": _FAULT_COLUMNS,
    "opened_contents": _CONTENT_COLUMNS, "opened_segments": _SEGMENT_COLUMNS,
}  # fmt: skip
"""Tables that say what was opened, for the views to ask."""

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
    tables = [table_view(table, schema, {}) for table, schema in ALL_TABLES.items()]
    statements = [*tables, *(_table(name, columns) for name, columns in _OPENED.items()), *view_statements()]
    connection = empty_database(";\n".join(statements))
    if with_comments:
        connection.execute("\n".join(comment_statements()))
    return connection


def _connect(runs: dict[int, tuple[RunDirectory, Manifest]], faults: list[Fault]) -> duckdb.DuckDBPyConnection:
    contents = {number: read_content(run, manifest) for number, (run, manifest) in runs.items()}
    faults += [(number, *fault) for number, content in contents.items() for fault in content.faults]
    # The views are made over empty tables, which are then replaced: binding them to files would take twice as long.
    connection = open_nothing()
    connection.execute("SET parquet_metadata_cache = true")
    for table in ALL_TABLES:
        show_segments(connection, table, {number: content.segments[table] for number, content in contents.items()})
    _list_segments(connection, contents)
    records = [run_record(number, content) for number, content in contents.items()]
    _insert(connection, "opened_runs", [tuple(record[column] for column in RUN_COLUMNS) for record in records])
    facts = [fact for number, content in contents.items() for fact in run_facts(number, content.manifest)]
    _insert(connection, "opened_facts", facts)
    _insert(connection, "opened_faults", faults)
    found = [(number, str(runs[number][0].path.absolute()), *contents[number].version) for number in runs]
    _insert(connection, "opened_contents", found)
    return connection


def show_segments(connection: duckdb.DuckDBPyConnection, table: str, segments: dict[int, list[Segment]]) -> None:
    """Make a table of the connection consist of the rows of the given segments, and of no others.

    Args:
        connection: From :func:`open_nothing` or :func:`open_runs`.
        table: Name of the table.
        segments: The segments of each run, by the number of the run (its position among the opened ones, from 0).
    """
    files = {number: [str(segment.path) for segment in found] for number, found in segments.items()}
    connection.execute(table_view(table, ALL_TABLES[table], files))
    connection.execute("DELETE FROM opened_segments WHERE table_name = ?", [table])  # of what was shown before


def _list_segments(connection: duckdb.DuckDBPyConnection, contents: dict[int, RunContent]) -> None:
    """List the files of the tables by round, so that a window can be asked of the few that hold it."""
    rows = [
        (table, number, str(segment.path), *(segment.rounds or (None, None)))
        for number, content in contents.items()
        for table in TABLES_BY_ROUND
        for segment in content.segments[table]
    ]
    names = list(_SEGMENT_COLUMNS)
    listed = pa.table({name: pa.array([row[place] for row in rows], _LISTED[name]) for place, name in enumerate(names)})
    connection.register("listed", listed)
    connection.execute("INSERT INTO opened_segments SELECT * FROM listed")
    connection.unregister("listed")


def _table(name: str, columns: dict[str, str]) -> str:
    return f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind in columns.items())})"


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        one = f"({', '.join('?' * len(rows[0]))})"
        values = [value for row in rows for value in row]
        connection.execute(f"INSERT INTO {table} VALUES {', '.join([one] * len(rows))}", values)
