"""Queries about one request, from the time it was offered to its end."""

from typing import Any

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read, read_rounds
from radixflow.schema.reading.windows import RoundRange

MOST_OVERTAKERS = 1000
"""Most overtakers of one request that are listed."""


def interesting(connection: duckdb.DuckDBPyConnection, run: int, limit: int = 200) -> pa.Table:
    """Read the requests of a run by name, those with the longest wait first; to choose from."""
    sql = """SELECT request_id, waiting_ms, num_blocked_visits FROM request_lives WHERE run = $run
             ORDER BY waiting_ms DESC NULLS LAST, request_id LIMIT $limit"""
    return read(connection, sql, run=run, limit=limit)


def like(connection: duckdb.DuckDBPyConnection, run: int, text: str, limit: int = 20) -> pa.Table:
    """Read the names of a run that contain a text, capitals or not."""
    sql = """SELECT request_id FROM request_lives WHERE run = $run AND contains(lower(request_id), lower($text))
             ORDER BY request_id LIMIT $limit"""
    return read(connection, sql, run=run, text=text, limit=limit)


def neighbours(connection: duckdb.DuckDBPyConnection, run: int, request_id: str) -> pa.Table:
    """Read who was registered before and after a request; NULL where there is nobody."""
    sql = """SELECT arg_max(request_id, request) FILTER (request < own) AS previous_request,
                    arg_min(request_id, request) FILTER (request > own) AS next_request
             FROM request_lives, (SELECT min(request) AS own FROM request_lives
                                  WHERE run = $run AND request_id = $request_id)
             WHERE run = $run"""
    return read(connection, sql, run=run, request_id=request_id)


def life(connection: duckdb.DuckDBPyConnection, run: int, request_id: str) -> pa.Table:
    """Read the life of a request; no row if there is no such request."""
    sql = """SELECT label, lives.* FROM request_lives AS lives JOIN runs USING (run)
             WHERE lives.run = $run AND lives.request_id = $request_id"""
    return read(connection, sql, run=run, request_id=request_id)


def rounds_of_life(
    connection: duckdb.DuckDBPyConnection, run: int, registered_ms: float | None, finished_ms: float | None
) -> pa.Table:
    """Read the first and the last round that could have looked at a request, from its registration to its end."""
    sql = """SELECT coalesce(max(round) FILTER (start_ms <= $registered_ms::DOUBLE), min(round)) AS first_round,
                    max(round) FILTER (start_ms <= coalesce($finished_ms::DOUBLE, 'infinity')) AS last_round
             FROM round_occupancy WHERE run = $run"""
    return read(connection, sql, run=run, registered_ms=registered_ms, finished_ms=finished_ms)


def lifetime(run: int, rounds: pa.Table) -> RoundRange:
    """Return the rounds of a life, given ``rounds_of_life``; none of a run without rounds."""
    (row,) = rounds.to_pylist()
    return RoundRange(run, row["first_round"] or 0, row["last_round"] or 0)


def waits(connection: duckdb.DuckDBPyConnection, run: int, request: int) -> pa.Table:
    """Read how many rounds began while a request waited."""
    sql = "SELECT num_rounds_waited, waited_ms FROM request_waits WHERE run = $run AND request = $request"
    return read(connection, sql, run=run, request=request)


def overtakers(connection: duckdb.DuckDBPyConnection, run: int, request: int, limit: int = MOST_OVERTAKERS) -> pa.Table:
    """Read who came first although it arrived later, the earliest first."""
    sql = """SELECT overtaker_request_id, overtaker_round, overtaker_registered_ms, rounds_difference
             FROM request_overtakers WHERE run = $run AND request = $request
             ORDER BY overtaker_round, overtaker_request_id LIMIT $limit"""
    return read(connection, sql, run=run, request=request, limit=limit)


def visits(connection: duckdb.DuckDBPyConnection, rounds: RoundRange, request: int, limit: int = 2000) -> pa.Table:
    """Read the visits that did not take a request, in the order of time."""
    sql = """SELECT round, start_ms, end_ms, visit, witness, outcome, slot_class, reason, cause, producer_request_id,
                    published_round, matched_tokens, ready_tokens, num_tokens
             FROM request_visits WHERE run = $run AND round BETWEEN $first AND $last AND request = $request
             ORDER BY round, visit LIMIT $limit"""
    return _read(connection, rounds, sql, request=request, limit=limit)


def reasons(connection: duckdb.DuckDBPyConnection, rounds: RoundRange, request: int) -> pa.Table:
    """Read how many rounds found what when they looked at a request, and how long those rounds lasted together."""
    sql = """SELECT outcome, reason, cause, slot_class, count(*) AS num_visits, sum(end_ms - start_ms) AS rounds_ms,
                    min(round) AS first_round, max(round) AS last_round, witness
             FROM request_visits WHERE run = $run AND round BETWEEN $first AND $last AND request = $request
             GROUP BY outcome, reason, cause, witness, slot_class ORDER BY first_round, num_visits DESC"""
    return _read(connection, rounds, sql, request=request)


def rows(connection: duckdb.DuckDBPyConnection, rounds: RoundRange, request: int, limit: int = 2000) -> pa.Table:
    """Read the rounds that ran a request, in the order of time."""
    sql = """SELECT round, start_ms, end_ms, slot, kind, first_token, end_token, num_tokens, num_reused_tokens,
                    restored_state, published_state
             FROM request_rows WHERE run = $run AND round BETWEEN $first AND $last AND request = $request
             ORDER BY round LIMIT $limit"""
    return _read(connection, rounds, sql, request=request, limit=limit)


def producers(connection: duckdb.DuckDBPyConnection, rounds: RoundRange, request: int, limit: int = 12) -> pa.Table:
    """Read for whom a request waited: how often, by cause, in which rounds; in the order of its waits."""
    sql = """SELECT producer_request_id, cause, count(*) AS num_visits, min(round) AS first_round,
                    max(round) AS last_round, min(published_round) AS published_round
             FROM request_visits
             WHERE run = $run AND round BETWEEN $first AND $last AND request = $request
                 AND outcome = 'blocked' AND producer IS NOT NULL
             GROUP BY producer, producer_request_id, cause ORDER BY first_round, num_visits DESC LIMIT $limit"""
    return _read(connection, rounds, sql, request=request, limit=limit)


def rows_of_producers(
    connection: duckdb.DuckDBPyConnection, rounds: RoundRange, request: int, limit: int = 2000
) -> pa.Table:
    """Read the rounds that ran the producers of a request while it waited for them."""
    sql = """WITH waits AS (
                 SELECT producer, max(round) AS last_round FROM request_visits
                 WHERE run = $run AND round BETWEEN $first AND $last AND request = $request
                     AND outcome = 'blocked' AND producer IS NOT NULL
                 GROUP BY producer)
             SELECT r.request_id AS producer_request_id, r.request_group, r.round, r.start_ms, r.end_ms, r.num_tokens,
                    r.num_reused_tokens, r.kind, r.published_state
             FROM request_rows AS r JOIN waits ON waits.producer = r.request
             WHERE r.run = $run AND r.round BETWEEN $first AND $last AND r.round <= waits.last_round + 1
             ORDER BY r.round, r.slot LIMIT $limit"""
    return _read(connection, rounds, sql, request=request, limit=limit)


def events(connection: duckdb.DuckDBPyConnection, run: int, request: int, limit: int = 2000) -> pa.Table:
    """Read the events of a request, in the order of time."""
    sql = """SELECT time_ms, event, round, other_request_id, detail, num_rounds
             FROM request_events WHERE run = $run AND request = $request ORDER BY time_ms, event LIMIT $limit"""
    return read(connection, sql, run=run, request=request, limit=limit)


def _read(connection: duckdb.DuckDBPyConnection, rounds: RoundRange, sql: str, **parameters: Any) -> pa.Table:
    named = {"run": rounds.run, "first": rounds.first, "last": rounds.last}
    return read_rounds(connection, rounds, sql, **named, **parameters)
