"""The empty database that every opened run starts from, kept on the disk.

To bind every view anew takes DuckDB half a second, since views stand on views; to copy them from a database in which
they are bound takes a tenth of that. The kept file holds declarations and no rows. It is a cache of the user, named by
what it was made from; without it, or when anything is wrong with it, the views are bound anew.
"""

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path

import duckdb

from radixflow.schema.reading.user_cache import user_cache
from radixflow.schema.run_files.atomic_files import TEMPORARY_PREFIX

MOST_TEMPLATES = 8
"""Kept files, one a release of the views and of DuckDB; beyond, the ones that were written first are removed."""
_FOLDER = "views"
_one_at_a_time = threading.Lock()
"""DuckDB lets a process attach a file once at a time."""


def empty_database(statements: str) -> duckdb.DuckDBPyConnection:
    """Return an in-memory database in which these statements were executed.

    Args:
        statements: SQL that creates tables without rows, and views; the same text gives the same database.
    """
    path = _path(statements)
    if path is not None and (connection := _copied(path)) is not None:
        return connection
    connection = duckdb.connect()
    connection.execute(statements)
    if path is not None:
        _keep(connection, path)
    return connection


def _path(statements: str) -> Path | None:
    folder = user_cache(_FOLDER)
    digest = hashlib.blake2b(f"{duckdb.__version__}\n{statements}".encode(), digest_size=16).hexdigest()
    return None if folder is None else folder / f"{digest}.duckdb"


def _copied(path: Path) -> duckdb.DuckDBPyConnection | None:
    """Return a copy of the kept database, or None where it is not there or damaged."""
    if not path.is_file():
        return None
    connection = duckdb.connect()
    try:
        with _one_at_a_time:
            connection.execute(f"ATTACH {_quoted(path)} AS kept (READ_ONLY)")
            connection.execute("COPY FROM DATABASE kept TO memory (SCHEMA)")
            connection.execute("DETACH kept")
    except duckdb.Error:
        connection.close()
        return None
    return connection


def _keep(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Keep what a connection holds for those that come; if that cannot be done, it is not kept."""
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{os.getpid()}-{threading.get_ident()}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection.execute(f"ATTACH {_quoted(temporary)} AS kept")
        try:
            connection.execute("COPY FROM DATABASE memory TO kept (SCHEMA)")
        finally:
            connection.execute("DETACH kept")
        os.replace(temporary, path)
        _forget_oldest(path.parent)
    except (OSError, duckdb.Error):
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _forget_oldest(folder: Path) -> None:
    kept = sorted(folder.glob("*.duckdb"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-MOST_TEMPLATES]:
        path.unlink(missing_ok=True)


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
