"""How long requests took, and what of it was waiting."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read

MAX_POINTS = 1500
"""Most requests of one run that a figure of single requests shows."""


def ecdf(connection: duckdb.DuckDBPyConnection, subject: str, interval: str, points: int = 400) -> pa.Table:
    """Read the distribution of one latency, at most about ``points`` steps a run; the longest value is always there."""
    sql = """SELECT run, max(value_ms) AS value_ms, max(within_fraction) AS within_fraction
             FROM latency_ecdf WHERE subject = $subject AND interval = $interval
             GROUP BY run, ceil(within_fraction * $points) ORDER BY run, value_ms"""
    return read(connection, sql, subject=subject, interval=interval, points=points)


def summary(connection: duckdb.DuckDBPyConnection, subject: str, interval: str) -> pa.Table:
    """Read mean and percentiles of one latency of each run, over all its datasets."""
    sql = """SELECT * FROM latency_summary
             WHERE subject = $subject AND interval = $interval AND dataset IS NULL ORDER BY run"""
    return read(connection, sql, subject=subject, interval=interval)


def every_summary(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read mean and percentiles of every latency, whole runs first, then by dataset."""
    sql = """SELECT label, subject, interval, coalesce(dataset, 'all') AS dataset, num_values, num_missing, mean_ms,
                    p50_ms, p90_ms, p95_ms, p99_ms, shortest_ms, longest_ms
             FROM latency_summary ORDER BY subject, interval, latency_summary.dataset NULLS FIRST, run"""
    return read(connection, sql)


def split(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read what the mean latency of each run consists of."""
    return read(connection, "SELECT * FROM latency_split ORDER BY run")


def parts(connection: duckdb.DuckDBPyConnection, limit: int = MAX_POINTS) -> pa.Table:
    """Read waiting and executing of single branches; of many, the same in every arm, chosen by a hash of the name."""
    sql = """SELECT run, request_id, request_group, sending_ms, waiting_ms, executing_ms, latency_ms,
                    num_blocked_visits
             FROM latency_parts
             QUALIFY row_number() OVER (PARTITION BY run ORDER BY hash(request_id), request_id) <= $limit
             ORDER BY run, request_id"""
    return read(connection, sql, limit=limit)
