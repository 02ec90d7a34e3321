"""A read-only place to ask the opened runs questions of one's own, for SQL that somebody else may have written.

What keeps it closed: a database of its own whose only readable files are the segments of the opened runs; external
access off and the configuration locked; one SELECT at a time, in a transaction that may not write; and limits of time,
memory, rows and size.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.tables import ALL_TABLES

MAX_SECONDS = 10.0
MAX_ROWS = 5000
MAX_BYTES = 32 * 2**20
MEMORY = "1GB"
_MAX_LETTERS = 20_000


class Answer(NamedTuple):
    """What a question brought.

    Attributes:
        table: The rows, at most ``MAX_ROWS``; None after an error.
        is_cut: Whether there were more rows.
        error: Why there is no table, in words.
    """

    table: pa.Table | None
    is_cut: bool = False
    error: str = ""


def open_console(paths: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """Open runs for questions of any kind; nothing but the segments of these runs can be read, nothing be written.

    Raises:
        RadixflowError: As :func:`radixflow.schema.reading.connection.open_runs`.
    """
    connection = open_runs([Path(path) for path in paths])
    files = [str(each) for path in paths for table in ALL_TABLES for each in RunDirectory(path).segments(table)]
    connection.execute("SET GLOBAL allowed_paths = $files", {"files": files or [""]})
    for setting in (
        f"memory_limit = '{MEMORY}'",
        "threads = 2",
        "temp_directory = ''",
        "python_enable_replacements = false",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "allow_community_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        connection.execute(f"SET GLOBAL {setting}")
    return connection


def answer(connection: duckdb.DuckDBPyConnection, sql: str, max_seconds: float = MAX_SECONDS) -> Answer:
    """Run one SELECT within the limits; whatever is wrong with it is said in the answer.

    Args:
        connection: From :func:`open_console`.
        sql: The question.
        max_seconds: When it is stopped.
    """
    refusal = _refusal(sql)
    if refusal:
        return Answer(None, error=refusal)
    cursor = connection.cursor()
    is_late = threading.Event()

    def stop() -> None:
        is_late.set()
        cursor.interrupt()

    timer = threading.Timer(max_seconds, stop)
    timer.start()
    try:
        cursor.execute("BEGIN TRANSACTION READ ONLY")
        table = cursor.sql(sql).limit(MAX_ROWS + 1).to_arrow_table()
    except (duckdb.Error, RuntimeError, MemoryError, pa.ArrowException) as error:
        stopped = f"Stopped after {max_seconds:g} s, the limit of this page. Ask for fewer rounds."
        return Answer(None, error=stopped if is_late.is_set() else str(error).strip())
    finally:
        timer.cancel()
        cursor.close()
    if table.nbytes > MAX_BYTES:
        return Answer(None, error=f"The answer is larger than {MAX_BYTES >> 20} MiB. Ask for fewer columns or rows.")
    return Answer(table.slice(0, MAX_ROWS), table.num_rows > MAX_ROWS)


def _refusal(sql: str) -> str:
    """Say why a text is not one SELECT; empty if it is."""
    if len(sql) > _MAX_LETTERS:
        return f"The question has more than {_MAX_LETTERS:,} letters."
    try:
        statements = duckdb.extract_statements(sql)
    except (duckdb.Error, RuntimeError) as error:
        return str(error).strip()
    if len(statements) != 1:
        return "Ask one question: a single SELECT."
    if statements[0].type != duckdb.StatementType.SELECT:
        return "Only SELECT is answered here: nothing can be changed, written or loaded."
    return ""
