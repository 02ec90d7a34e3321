"""Who was blocked, behind whom, and for how long."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read


def visits_by_cause(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read how many BLOCKED visits each run has by cause and witness, and how many requests and rounds they touch."""
    sql = """SELECT run, cause, witness, count(*) AS num_visits, count(DISTINCT request_id) AS num_requests,
                    count(DISTINCT round) AS num_rounds, sum(num_tokens_lost)::BIGINT AS num_tokens_lost
             FROM blocked_visits GROUP BY run, cause, witness ORDER BY run, cause, witness"""
    return read(connection, sql)


def producers(connection: duckdb.DuckDBPyConnection, limit: int = 15) -> pa.Table:
    """Read the producers that most visits waited for, by cause, with some of the consumers' names."""
    sql = """WITH ranked AS (
                 SELECT run, producer_request_id, count(*) AS total,
                        row_number() OVER (PARTITION BY run ORDER BY count(*) DESC, producer_request_id) AS rank
                 FROM blocked_visits WHERE producer_request_id IS NOT NULL GROUP BY run, producer_request_id)
             SELECT run, producer_request_id, cause, count(*) AS num_visits,
                    count(DISTINCT request_id) AS num_consumers,
                    list_sort(list(DISTINCT request_id))[1:8] AS consumers, min(round) AS first_round,
                    max(round) AS last_round, any_value(total) AS total
             FROM blocked_visits JOIN ranked USING (run, producer_request_id) WHERE rank <= $limit
             GROUP BY run, producer_request_id, cause ORDER BY run, total DESC, producer_request_id, cause"""
    return read(connection, sql, limit=limit)


def consumers(connection: duckdb.DuckDBPyConnection, limit: int = 30) -> pa.Table:
    """Read the blocked requests of each run that waited longest from registration to first selection."""
    sql = """SELECT run, request_id, request_group, registered_ms, first_selected_ms, waiting_ms, num_blocked_visits,
                    outcome
             FROM request_lives WHERE num_blocked_visits > 0
             QUALIFY row_number() OVER (PARTITION BY run ORDER BY waiting_ms DESC NULLS FIRST, request_id) <= $limit
             ORDER BY run, waiting_ms DESC NULLS FIRST, request_id"""
    return read(connection, sql, limit=limit)


def visits_of_consumers(connection: duckdb.DuckDBPyConnection, limit: int = 30) -> pa.Table:
    """Read every BLOCKED visit of the requests that ``consumers`` lists."""
    sql = """WITH slowest AS (
                 SELECT run, request_id FROM request_lives WHERE num_blocked_visits > 0
                 QUALIFY row_number()
                         OVER (PARTITION BY run ORDER BY waiting_ms DESC NULLS FIRST, request_id) <= $limit)
             SELECT run, request_id, round, start_ms, cause, witness, producer_request_id, published_round,
                    matched_tokens, ready_tokens, num_tokens_lost
             FROM blocked_visits JOIN slowest USING (run, request_id) ORDER BY run, start_ms LIMIT 4000"""
    return read(connection, sql, limit=limit)


def consumers_of_run(connection: duckdb.DuckDBPyConnection, run: int, limit: int = 500) -> pa.Table:
    """Read the blocked requests of one run, the longest wait first."""
    sql = """SELECT request_id, request_group, num_blocked_visits, waiting_ms, registered_ms, first_selected_ms, outcome
             FROM request_lives WHERE run = $run AND num_blocked_visits > 0
             ORDER BY waiting_ms DESC NULLS FIRST, request_id LIMIT $limit"""
    return read(connection, sql, run=run, limit=limit)


def waiting_times(connection: duckdb.DuckDBPyConnection, points: int = 400) -> pa.Table:
    """Read the share of requests selected within a time of waiting, at most about ``points`` steps a run."""
    sql = """SELECT run, max(waiting_ms) AS waiting_ms, max(share) AS share
             FROM (SELECT run, waiting_ms, cume_dist() OVER (PARTITION BY run ORDER BY waiting_ms) AS share
                   FROM request_lives WHERE waiting_ms IS NOT NULL)
             GROUP BY run, ceil(share * $points) ORDER BY run, waiting_ms"""
    return read(connection, sql, points=points)
