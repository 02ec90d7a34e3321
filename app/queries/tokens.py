"""Where every prompt token came from, and what was computed more than once."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read

MAX_INTERVALS = 60
"""Most repeated intervals of one run that a figure shows."""
MOST_LISTED = 1000
"""Most repeated intervals of one run that a table lists."""


def ledger(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the token ledger of each run."""
    return read(connection, "SELECT * FROM token_ledger ORDER BY run")


def parts(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the token ledger of each run part by part."""
    return read(connection, "SELECT * FROM token_ledger_parts ORDER BY run, position")


def repeated_by_cause(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read how many tokens of each run were computed again, by cause."""
    return read(connection, "SELECT * FROM repeated_tokens ORDER BY run, num_tokens DESC")


def repeated(connection: duckdb.DuckDBPyConnection, run: int, limit: int) -> pa.Table:
    """Read the intervals of one run that were computed again, the longest first."""
    sql = """SELECT request_id, cause, round, begin_token, end_token, num_tokens, first_request_id, first_round
             FROM repeated_intervals WHERE run = $run
             ORDER BY num_tokens DESC, round, request_id LIMIT $limit"""
    return read(connection, sql, run=run, limit=limit)


def reuse(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read what the prefix cache gave, whole runs first, then by dataset."""
    sql = """SELECT * EXCLUDE (run, dataset), coalesce(dataset, 'all') AS dataset
             FROM reuse_summary ORDER BY reuse_summary.dataset NULLS FIRST, run"""
    return read(connection, sql)


def restored(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read how long before it was restored a state had been published, and how many outputs were still on their way."""
    return read(connection, "SELECT * EXCLUDE (run) FROM restored_summary ORDER BY restored_summary.run")


def faults(connection: duckdb.DuckDBPyConnection, limit: int = 200) -> pa.Table:
    """Read which token ledgers of requests do not close."""
    sql = """SELECT label, sentence FROM ledger_faults JOIN runs USING (run) WHERE ledger = 'token'
             ORDER BY run, request LIMIT $limit"""
    return read(connection, sql, limit=limit)
