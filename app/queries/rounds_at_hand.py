"""Keeps what the timeline needs of every round in memory: the first query reads the run, later zoom steps do not."""

import threading

import duckdb

from radixflow.app.queries.reading import damage_in_a_sentence

MOST_ROUNDS = 4_000_000
"""Rounds of all opened runs, at about 95 bytes each; those of longer runs are read from the files every time."""
_COLUMNS = {
    "run": "INTEGER", "round": "BIGINT", "start_ms": "DOUBLE", "end_ms": "DOUBLE", "row_capacity": "INTEGER",
    "rows_used": "INTEGER", "rows_avoidable": "INTEGER", "rows_dependency_wait": "INTEGER", "rows_held": "INTEGER",
    "rows_token_limited": "INTEGER", "rows_other": "INTEGER", "rows_no_work": "INTEGER", "tokens_scheduled": "INTEGER",
    "tokens_avoidable": "INTEGER", "token_budget": "INTEGER", "num_waiting_before": "INTEGER", "num_held": "INTEGER",
}  # fmt: skip
_LOCK = threading.Lock()


def hold_rounds(connection: duckdb.DuckDBPyConnection) -> bool:
    """Make ``rounds_at_hand``, columns of the view ``round_ends``, and say whether it is in memory.

    Args:
        connection: Opened runs.

    Raises:
        RadixflowError: A file is damaged behind a footer that is whole, or went away while it was read.
    """
    cursor = connection.cursor()
    try:
        with _LOCK:
            kind = _kind(cursor)
            if kind is None:
                with damage_in_a_sentence():
                    kind = _make(cursor)
            return kind == "TABLE"
    finally:
        cursor.close()


def _kind(cursor: duckdb.DuckDBPyConnection) -> str | None:
    found = cursor.execute("""
        SELECT 'TABLE' FROM duckdb_tables() WHERE table_name = 'rounds_at_hand'
        UNION ALL SELECT 'VIEW' FROM duckdb_views() WHERE view_name = 'rounds_at_hand'""").fetchall()
    return str(found[0][0]) if found else None


def _make(cursor: duckdb.DuckDBPyConnection) -> str:
    ((num_rounds,),) = cursor.execute("SELECT count(*) FROM rounds").fetchall()
    kind = "TABLE" if num_rounds <= MOST_ROUNDS else "VIEW"
    columns = ", ".join(f"{name}::{of} AS {name}" for name, of in _COLUMNS.items())
    order = "ORDER BY run, round" if kind == "TABLE" else ""  # what a window needs then lies together
    cursor.execute(f"CREATE {kind} rounds_at_hand AS SELECT {columns} FROM round_ends {order}")
    return kind
