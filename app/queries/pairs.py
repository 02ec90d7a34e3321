"""Two arms over one stream, request by request."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read


def paired_requests(connection: duckdb.DuckDBPyConnection, run_a: int, run_b: int) -> pa.Table:
    """Read every request of a pair of runs, the most slowed down by the second run first."""
    sql = """SELECT * FROM paired_requests WHERE run_a = $run_a AND run_b = $run_b
             ORDER BY latency_difference_ms DESC NULLS LAST, request_id"""
    return read(connection, sql, run_a=run_a, run_b=run_b)


def output_audit(connection: duckdb.DuckDBPyConnection, run_a: int, run_b: int) -> pa.Table:
    """Read how many first tokens of a pair can be compared and agree: over all its requests first, then by dataset.

    A pair that shares no request has no row.
    """
    sql = """SELECT coalesce(dataset, 'all') AS dataset, * EXCLUDE (run_a, run_b, label_a, label_b, dataset)
             FROM output_audit WHERE run_a = $run_a AND run_b = $run_b ORDER BY output_audit.dataset NULLS FIRST"""
    return read(connection, sql, run_a=run_a, run_b=run_b)


def first_token_disagreements(
    connection: duckdb.DuckDBPyConnection, run_a: int, run_b: int, limit: int = 200
) -> pa.Table:
    """Read the requests of a pair whose first output tokens differ."""
    sql = """SELECT * EXCLUDE (run_a, run_b) FROM output_disagreements WHERE run_a = $run_a AND run_b = $run_b
             ORDER BY request_id LIMIT $limit"""
    return read(connection, sql, run_a=run_a, run_b=run_b, limit=limit)
