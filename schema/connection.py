"""Runs opened for questions: an in-memory DuckDB in which every table of the runs, and every view, can be queried."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.manifest import MANIFEST_NAME, Manifest
from radixflow.schema.run_directory import CLIENT_WRITER, RunDirectory
from radixflow.schema.segment_files import Segment, read_segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.view_catalog import create_views

_RUN_COLUMNS = {
    "run": "INTEGER", "run_id": "VARCHAR", "policy": "VARCHAR", "policy_effective": "VARCHAR", "experiment": "VARCHAR",
    "stream": "VARCHAR", "state": "VARCHAR", "engine_kind": "VARCHAR", "model_name": "VARCHAR", "is_hybrid": "BOOLEAN",
    "block_size": "INTEGER", "row_capacity": "INTEGER", "token_budget": "INTEGER", "num_requests": "INTEGER",
    "workload_digest": "VARCHAR", "seed": "BIGINT", "vllm_version": "VARCHAR", "created_utc": "VARCHAR",
    "command": "VARCHAR", "hardware": "VARCHAR", "device": "VARCHAR", "num_faults": "INTEGER", "num_drops": "BIGINT",
    "probe": "VARCHAR", "is_observed": "BOOLEAN", "origin_ns": "BIGINT",
}  # fmt: skip
_FAULT_COLUMNS = {"run": "INTEGER", "table_name": "VARCHAR", "file_name": "VARCHAR", "sentence": "VARCHAR"}
_ORIGIN_COLUMN = "schedule_start_ns"

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
    _create_table(connection, "opened_runs", _RUN_COLUMNS)
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
        num_faults = len({*manifest.faults, *_writer_faults(writers)}) + sum(fault[0] == number for fault in faults)
        records.append(
            _run_record(number, run, manifest, writers)
            | {"num_faults": num_faults, "origin_ns": _origin_ns(segments["rounds"][number])}
        )
    # The views are made over empty tables, which are then replaced: binding them to files would take twice as long.
    connection = open_nothing()
    connection.execute("SET parquet_metadata_cache = true")
    for table, schema in ALL_TABLES.items():
        connection.execute(_table_view(table, schema, segments[table]))
    _insert(connection, "opened_runs", [tuple(record[column] for column in _RUN_COLUMNS) for record in records])
    _insert(connection, "opened_faults", faults)
    return connection


def _sort_segments(run: RunDirectory, table: str) -> tuple[list[Segment], list[Segment]]:
    segments = [read_segment(path, ALL_TABLES[table], _ORIGIN_COLUMN) for path in run.segments(table)]
    return [each for each in segments if not each.fault], [each for each in segments if each.fault]


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


def _writer_faults(writers: dict[str, dict[str, Any]]) -> set[str]:
    return {str(fault) for status in writers.values() for fault in status.get("faults", [])}


def _run_record(
    number: int, run: RunDirectory, manifest: Manifest, writers: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    said = [status["policy_effective"] for status in writers.values() if status.get("policy_effective")]
    dropped = sum(sum(status.get("drops", {}).values()) for status in writers.values())
    return {
        "run": number,
        "run_id": manifest.run_id,
        "policy": manifest.policy,
        "policy_effective": manifest.policy_effective or next(iter(said), None),
        "experiment": manifest.experiment,
        "stream": manifest.stream,
        "state": run.state,
        "engine_kind": manifest.engine_kind,
        "model_name": manifest.model.get("name"),
        "is_hybrid": manifest.model.get("is_hybrid"),
        "block_size": manifest.model.get("block_size") or _first_said(writers, "block_size"),
        "row_capacity": manifest.engine_arguments.get("max_num_seqs"),
        "token_budget": manifest.engine_arguments.get("max_num_batched_tokens"),
        "num_requests": manifest.workload.get("num_requests"),
        "workload_digest": manifest.workload.get("digest"),
        "seed": manifest.workload.get("seed"),
        "vllm_version": manifest.versions.get("vllm"),
        "created_utc": manifest.created_utc,
        "command": " ".join(str(word) for word in manifest.command),
        "hardware": _hardware_line(manifest.hardware),
        "device": manifest.hardware.get("device"),
        "num_drops": max(dropped, sum(manifest.drops.values())),
        "probe": manifest.probe,
        "is_observed": any(name != CLIENT_WRITER for name in writers),
    }


def _first_said(writers: dict[str, dict[str, Any]], key: str) -> Any:
    return next((status[key] for status in writers.values() if status.get(key) is not None), None)


def _hardware_line(hardware: dict[str, Any]) -> str | None:
    parts = [str(hardware["cpu"])] if hardware.get("cpu") else []
    if hardware.get("num_cores"):
        parts.append(f"{hardware['num_cores']} cores")
    if hardware.get("memory_bytes"):
        parts.append(f"{hardware['memory_bytes'] / 2**30:.3g} GiB")
    return ", ".join(parts) or None


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
    names = [str(segment.path) for segment in segments]
    literal = ["".join(f"[{each}]" if each in "*?[" else each for each in name) for name in names]
    return ", ".join("'" + name.replace("'", "''") + "'" for name in literal)


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return "VARCHAR"
    return {pa.int16(): "SMALLINT", pa.int32(): "INTEGER", pa.int64(): "BIGINT", pa.uint64(): "UBIGINT"}[kind]


def _create_table(connection: duckdb.DuckDBPyConnection, table: str, columns: dict[str, str]) -> None:
    connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in columns.items())})")


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    for row in rows:
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
