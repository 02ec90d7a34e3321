"""The slot raster of a window: its row slots as rectangles, summed up so that a browser can draw them all."""

from typing import NamedTuple

import duckdb
import pyarrow as pa

from radixflow.app.queries.rounds_at_hand import hold_rounds
from radixflow.app.queries.windowed import (
    EVERYTHING,
    Window,
    drawn_window,
    read_at_hand,
    read_named,
    read_sums,
)

__all__ = ["EVERYTHING", "MAX_MARKS", "Level", "Window", "choose_level", "drawn_window", "raster", "window_totals"]

MAX_MARKS = 1800
"""Most marks of the slot rasters of one timeline, over all its arms; with spans and arrows it stays below 4,000."""
MAX_ROUNDS_BY_CAUSE = 6000
"""Most rounds over which waits are told apart by cause: that asks for every visit, the ledger of a round does not."""


class Level(NamedTuple):
    """How far a raster is thinned.

    Attributes:
        kind: ``cells`` (one mark a row slot) or ``rounds`` (one mark a class of slot).
        rounds_per_mark: Consecutive rounds in one mark.
        by_cause: Whether waits for a state being written are told apart from waits for one marked again.
    """

    kind: str
    rounds_per_mark: int
    by_cause: bool = True


def extent(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read, for each run, the first and last round and the first and last time (ms), stalls outside rounds included."""
    return read_at_hand(
        connection,
        EVERYTHING,
        """WITH of_rounds AS (
               SELECT run, min(round) AS first_round, max(round) AS last_round, min(start_ms) AS first_ms,
                      max(end_ms) AS last_ms, count(*) AS num_rounds
               FROM rounds_at_hand GROUP BY run),
           of_stalls AS (
               SELECT run, min(start_ms) AS first_stall_ms, max(end_ms) AS last_stall_ms
               FROM stall_times WHERE kind <> 'awaits_output' GROUP BY run)
           SELECT run, coalesce(first_round, 1) AS first_round, coalesce(last_round, 0) AS last_round,
                  least(first_ms, first_stall_ms) AS first_ms, greatest(last_ms, last_stall_ms) AS last_ms,
                  coalesce(num_rounds, 0) AS num_rounds
           FROM of_rounds FULL JOIN of_stalls USING (run) ORDER BY run""",
    )


def window_totals(connection: duckdb.DuckDBPyConnection, window: Window) -> pa.Table:
    """Read, for each run, what a window holds: rounds, drawn cells, avoidable rows and the rounds that have them."""
    sql = """SELECT run, label, num_rounds, num_slots_with_work AS num_cells, rows_avoidable, num_bubble_rounds
             FROM bubble_totals ORDER BY run"""
    return read_sums(connection, window, sql)


def choose_level(totals: pa.Table, max_marks: int = MAX_MARKS) -> Level:
    """Choose the finest level at which a window, as ``window_totals`` counts it, stays within ``max_marks``."""
    cells = sum(totals["num_cells"].to_pylist())
    if cells <= max_marks:
        return Level("cells", 1)
    # Seven classes are drawn at most; four to a round is what real recordings show at their worst.
    rounds = sum(totals["num_rounds"].to_pylist())
    return Level("rounds", max(1, -(-rounds * 4 // max_marks)), rounds <= MAX_ROUNDS_BY_CAUSE)


def raster(connection: duckdb.DuckDBPyConnection, window: Window, level: Level) -> pa.Table:
    """Read the raster of a window at a level: single cells, or sums by class."""
    if level.kind == "cells":
        return slot_cells(connection, window)
    return slot_sums(connection, window, level.rounds_per_mark, level.by_cause)


def are_cells(table: pa.Table) -> bool:
    """Say whether a raster holds single cells; if so, a narrower window can be cut from it without a query."""
    return "slot" in table.column_names


def slot_cells(connection: duckdb.DuckDBPyConnection, window: Window) -> pa.Table:
    """Read the single cells of a window; slots without work are left out."""
    sql = """SELECT run, round, slot, slot_class, start_ms, end_ms, request_id, request_group, num_tokens,
                    num_reused_tokens, kind, producer_request_id, cause, reason, published_round
             FROM slot_cells WHERE slot_class <> 'no_work' AND {inside} AND {exactly} ORDER BY run, round, slot"""
    return read_named(connection, window, sql)


def slot_sums(
    connection: duckdb.DuckDBPyConnection, window: Window, rounds_per_mark: int, by_cause: bool = True
) -> pa.Table:
    """Read a window as mean rows of each class over ``rounds_per_mark`` consecutive rounds, weighted by duration.

    The area of a mark (rows times duration) is exactly the area of the cells that it stands for. Without ``by_cause``
    the cause of a wait is NULL.
    """
    if by_cause:
        hold_rounds(connection)
        sql = _SUMS.replace("{classes}", _CLASSES_BY_CAUSE)
        return read_named(connection, window, sql, has_names=False, step=rounds_per_mark)
    return read_at_hand(connection, window, _SUMS.replace("{classes}", _CLASSES), step=rounds_per_mark)


# A class of the ledger is a column rows_<class> of its round.
_SUMS = """
WITH rounds_inside AS MATERIALIZED (
    SELECT *, greatest(end_ms - start_ms, 1e-6) AS weight, round // $step AS bucket
    FROM rounds_at_hand WHERE {inside} AND {exactly}),
buckets AS (
    SELECT run, bucket, min(round) AS first_round, max(round) AS last_round, min(start_ms) AS start_ms,
           max(end_ms) AS end_ms, sum(weight) AS weight
    FROM rounds_inside GROUP BY run, bucket),
sums AS (SELECT run, bucket, sum(COLUMNS('^rows_(.*)$') * weight) AS '\\1' FROM rounds_inside GROUP BY run, bucket),
ledger AS (FROM (UNPIVOT sums ON COLUMNS(* EXCLUDE (run, bucket)) INTO NAME slot_class VALUE slot_time)),
classes AS ({classes})
SELECT run, first_round, last_round, start_ms, end_ms, slot_class, cause, slot_time / weight AS mean_rows
FROM classes JOIN buckets USING (run, bucket)
WHERE slot_class <> 'no_work' AND slot_time > 0
ORDER BY run, first_round, slot_class, cause
"""
_CLASSES = "SELECT *, NULL::VARCHAR AS cause FROM ledger"
_CLASSES_BY_CAUSE = """
    SELECT *, NULL::VARCHAR AS cause FROM ledger WHERE slot_class <> 'dependency_wait'
    UNION ALL BY NAME
    SELECT run, bucket, 'dependency_wait' AS slot_class, cause, sum(weight) AS slot_time
    FROM slot_waits JOIN rounds_inside USING (run, round) WHERE {inside} GROUP BY run, bucket, cause
"""


def round_tracks(connection: duckdb.DuckDBPyConnection, window: Window, rounds_per_mark: int) -> pa.Table:
    """Read the thin tracks of a window: tokens against the budget, and the queue, thinned as the raster is."""
    sql = """SELECT run, min(round) AS first_round, max(round) AS last_round, min(start_ms) AS start_ms,
                    max(end_ms) AS end_ms, avg(tokens_scheduled) AS tokens_scheduled,
                    max(token_budget) AS token_budget,
                    max(num_waiting_before) AS num_waiting_before, max(num_held) AS num_held
             FROM rounds_at_hand WHERE {inside} AND {exactly}
             GROUP BY run, round // $step ORDER BY run, first_round"""
    return read_at_hand(connection, window, sql, step=rounds_per_mark)


def whole_window(extents: pa.Table, axis: str) -> Window:
    """Return the window that shows every run whole, given ``extent``."""
    rows = extents.to_pylist()
    if not rows:
        return Window(axis, 0.0, 1.0)
    if axis == "round":
        return Window(axis, min(row["first_round"] for row in rows) - 0.5, max(row["last_round"] for row in rows) + 0.5)
    return Window(axis, min(row["first_ms"] for row in rows), max(row["last_ms"] for row in rows))


def neighbour(connection: duckdb.DuckDBPyConnection, window: Window, direction: str) -> Window | None:
    """Find the nearest bubble beyond the middle of a window: a window of the same length around it, None without one.

    Args:
        connection: Opened runs.
        window: What is visible now.
        direction: ``previous`` or ``next``.
    """
    half = (window.high - window.low) / 2
    middle, slack = window.low + half, 2e-3 * half
    place = "(start_ms + end_ms) / 2" if window.axis == "time" else "round::DOUBLE"
    beyond, nearest = (">", "min") if direction == "next" else ("<", "max")
    limit = middle + slack if direction == "next" else middle - slack
    side = (
        Window(window.axis, limit, float("inf")) if direction == "next" else Window(window.axis, -float("inf"), limit)
    )
    # Bubbles are common where there are any: look near the window first, and at the whole run only if none is there.
    for reach in (20 * half, float("inf")):
        low, high = max(side.low, middle - reach), min(side.high, middle + reach)
        sql = f"""SELECT {nearest}({place}) AS at FROM rounds_at_hand
                  WHERE rows_avoidable > 0 AND {place} {beyond} $limit AND {{inside}}"""
        (at,) = read_at_hand(connection, Window(window.axis, low, high), sql, limit=limit)["at"].to_pylist()
        if at is not None:
            return Window(window.axis, at - half, at + half)
    return None
