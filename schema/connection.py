"""Runs opened for questions: an in-memory DuckDB in which every table of the runs, and every view, can be queried."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.manifest import MANIFEST_NAME, Manifest
from radixflow.schema.run_directory import RunDirectory
from radixflow.schema.run_records import FACT_COLUMNS, RUN_COLUMNS, run_facts, run_record, writer_faults
from radixflow.schema.segment_files import Segment, read_segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.view_catalog import create_views

_FAULT_COLUMNS = {"run": "INTEGER", "table_name": "VARCHAR", "file_name": "VARCHAR", "sentence": "VARCHAR"}
_ORIGIN_COLUMN = "schedule_start_ns"
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
    create_views(connection, with_comments)
    return connection


def _connect(runs: dict[int, tuple[RunDirectory, Manifest]], faults: list[Fault]) -> duckdb.DuckDBPyConnection:
    segments: dict[str, dict[int, list[Segment]]] = {table: {} for table in ALL_TABLES}
    records: list[dict[str, Any]] = []
    for number, (run, manifest) in runs.items():
        writers = run.writers()  # before the segments: a writer at work counts a segment after it has written it
        for table in ALL_TABLES:
            good, bad = _sort_segments(run, table)
            segments[table][number] = good
            faults += [(number, table, segment.path.name, f"{segment.path.name} {segment.fault}") for segment in bad]
            faults += [(number, *fault) for fault in _missing_rows(table, writers, good, bad)]
        num_faults = len({*manifest.faults, *writer_faults(writers)}) + sum(fault[0] == number for fault in faults)
        records.append(
            run_record(number, run, manifest, writers)
            | {"num_faults": num_faults, "origin_ns": _origin_ns(segments["rounds"][number])}
        )
    # The views are made over empty tables, which are then replaced: binding them to files would take twice as long.
    connection = open_nothing()
    connection.execute("SET parquet_metadata_cache = true")
    for table, schema in ALL_TABLES.items():
        connection.execute(_table_view(table, schema, segments[table]))
    _insert(connection, "opened_runs", [tuple(record[column] for column in RUN_COLUMNS) for record in records])
    facts = [fact for number, (_, manifest) in runs.items() for fact in run_facts(number, manifest)]
    _insert(connection, "opened_facts", facts)
    _insert(connection, "opened_faults", faults)
    return connection


def _sort_segments(run: RunDirectory, table: str) -> tuple[list[Segment], list[Segment]]:
    segments = [_read_once(path, table) for path in run.segments(table)]
    return [each for each in segments if not each.fault], [each for each in segments if each.fault]


def _read_once(path: Path, table: str) -> Segment:
    """Read a footer, or remember it: a run that is followed while it grows is opened again and again."""
    try:
        status = path.stat()
    except OSError:
        return read_segment(path, ALL_TABLES[table], _ORIGIN_COLUMN)
    return _read_version(path, table, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=50_000)
def _read_version(path: Path, table: str, *_version: int) -> Segment:
    return read_segment(path, ALL_TABLES[table], _ORIGIN_COLUMN)


def _missing_rows(
    table: str, writers: dict[str, dict[str, Any]], good: list[Segment], bad: list[Segment]
) -> list[tuple[str, str, str]]:
    """Name what a writer says that it wrote and that is not there, unless a broken segment explains it."""
    faults = []
    for name, status in writers.items():
        written = status.get("rows_written", {}).get(table, 0)
        found = sum(segment.num_rows for segment in good if segment.writer == name)
        if found < written and not any(segment.writer == name for segment in bad):
            sentence = f"{written - found} of {written} rows of {table} that {name} wrote are missing."
            faults.append((table, f"{name}-*.parquet", sentence))
    return faults


def _origin_ns(rounds: list[Segment]) -> int | None:
    return min((segment.minimum for segment in rounds if segment.minimum is not None), default=None)


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
