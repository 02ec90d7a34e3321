"""The slot raster of a window, thinned so that no view holds more marks than a browser draws with ease."""

from typing import NamedTuple

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read

MAX_MARKS = 4000
"""Most marks that one timeline draws, over all its arms."""


class Window(NamedTuple):
    """A closed interval of one axis: ms since the first round of each run, or round numbers.

    Attributes:
        axis: ``time`` or ``round``.
        low: Lower end.
        high: Upper end.
    """

    axis: str
    low: float
    high: float


EVERYTHING = Window("time", float("-inf"), float("inf"))
"""A window that holds every round."""


def drawn_window(visible: Window) -> Window:
    """Return what to draw for what is visible: half a window more at both ends, so that a pan meets drawn marks."""
    margin = (visible.high - visible.low) / 2
    return Window(visible.axis, visible.low - margin, visible.high + margin)


class Level(NamedTuple):
    """How far a raster is thinned.

    Attributes:
        kind: ``cells`` (one mark a row slot) or ``rounds`` (one mark a class of slot).
        rounds_per_mark: Consecutive rounds in one mark.
    """

    kind: str
    rounds_per_mark: int


_IN_WINDOW = {
    "time": "end_ms >= $low AND start_ms <= $high",
    "round": "round >= $low AND round <= $high",
}


def extent(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read, for each run, the first and last round and the first and last time (ms)."""
    return read(
        connection,
        """SELECT run, min(round) AS first_round, max(round) AS last_round, min(start_ms) AS first_ms,
                  max(end_ms) AS last_ms, count(*) AS num_rounds
           FROM round_occupancy GROUP BY run ORDER BY run""",
    )


def window_totals(connection: duckdb.DuckDBPyConnection, window: Window) -> pa.Table:
    """Read, for each run, what a window holds: rounds, drawn cells, avoidable rows and the rounds that have them."""
    sql = f"""SELECT run, label, count(round) AS num_rounds, coalesce(sum(num_cells), 0)::BIGINT AS num_cells,
                     CASE WHEN probe <> 'off' THEN coalesce(sum(rows_avoidable), 0)::BIGINT END AS rows_avoidable,
                     count(*) FILTER (rows_avoidable > 0) AS num_bubble_rounds
              FROM runs LEFT JOIN (
                  SELECT run, round, rows_avoidable, row_capacity - rows_no_work AS num_cells
                  FROM round_occupancy WHERE {_IN_WINDOW[window.axis]}) USING (run)
              GROUP BY run, label, probe ORDER BY run"""
    return read(connection, sql, low=window.low, high=window.high)


def choose_level(totals: pa.Table, max_marks: int = MAX_MARKS) -> Level:
    """Choose the finest level at which a window, as ``window_totals`` counts it, stays within ``max_marks``."""
    cells = sum(totals["num_cells"].to_pylist())
    if cells <= max_marks:
        return Level("cells", 1)
    # Seven classes are drawn at most; four to a round is what real recordings show at their worst.
    rounds = sum(totals["num_rounds"].to_pylist())
    return Level("rounds", max(1, -(-rounds * 4 // max_marks)))


def raster(connection: duckdb.DuckDBPyConnection, window: Window, level: Level) -> pa.Table:
    """Read the raster of a window at a level: single cells, or sums by class."""
    if level.kind == "cells":
        return slot_cells(connection, window)
    return slot_sums(connection, window, level.rounds_per_mark)


def slot_cells(connection: duckdb.DuckDBPyConnection, window: Window) -> pa.Table:
    """Read the single cells of a window; slots without work are left out."""
    sql = f"""SELECT run, round, slot, slot_class, start_ms, end_ms, request_id, request_group, num_tokens,
                     num_reused_tokens, kind, producer_request_id, cause, reason, published_round
              FROM slot_cells WHERE slot_class <> 'no_work' AND {_IN_WINDOW[window.axis]} ORDER BY run, round, slot"""
    return read(connection, sql, low=window.low, high=window.high)


def slot_sums(connection: duckdb.DuckDBPyConnection, window: Window, rounds_per_mark: int) -> pa.Table:
    """Read a window as mean rows of each class over ``rounds_per_mark`` consecutive rounds, weighted by duration.

    The area of a mark (rows times duration) is exactly the area of the cells that it stands for.
    """
    sql = f"""WITH cells AS (
                  SELECT run, round // $step AS bucket, round, start_ms, end_ms, slot_class, cause,
                         greatest(end_ms - start_ms, 1e-6) AS weight
                  FROM slot_cells WHERE {_IN_WINDOW[window.axis]}),
              buckets AS (
                  SELECT run, bucket, min(start_ms) AS start_ms, max(end_ms) AS end_ms, min(round) AS first_round,
                         max(round) AS last_round, sum(weight) AS weight
                  FROM (SELECT DISTINCT run, bucket, round, start_ms, end_ms, weight FROM cells) GROUP BY run, bucket)
              SELECT run, first_round, last_round, b.start_ms, b.end_ms, slot_class, cause,
                     sum(c.weight) / any_value(b.weight) AS mean_rows
              FROM cells c JOIN buckets b USING (run, bucket) WHERE slot_class <> 'no_work'
              GROUP BY run, bucket, first_round, last_round, b.start_ms, b.end_ms, slot_class, cause
              ORDER BY run, first_round, slot_class, cause"""
    return read(connection, sql, low=window.low, high=window.high, step=rounds_per_mark)


def round_tracks(connection: duckdb.DuckDBPyConnection, window: Window, rounds_per_mark: int) -> pa.Table:
    """Read the thin tracks of a window: tokens against the budget, and the waiting queue, thinned as the raster is."""
    sql = f"""SELECT run, min(round) AS first_round, max(round) AS last_round, min(start_ms) AS start_ms,
                     max(end_ms) AS end_ms, avg(tokens_scheduled) AS tokens_scheduled,
                     max(token_budget) AS token_budget,
                     max(num_waiting_before) AS num_waiting_before, max(num_held) AS num_held
              FROM round_occupancy WHERE {_IN_WINDOW[window.axis]}
              GROUP BY run, round // $step ORDER BY run, first_round"""
    return read(connection, sql, low=window.low, high=window.high, step=rounds_per_mark)


def bubble_rounds(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the rounds that left avoidable rows, in the order of time."""
    return read(
        connection,
        """SELECT run, round, start_ms, end_ms, rows_avoidable, stop_request_id FROM round_occupancy
           WHERE rows_avoidable > 0 ORDER BY start_ms, run""",
    )


def whole_window(extents: pa.Table, axis: str) -> Window:
    """Return the window that shows every run whole, given ``extent``."""
    rows = extents.to_pylist()
    if not rows:
        return Window(axis, 0.0, 1.0)
    if axis == "round":
        return Window(axis, min(row["first_round"] for row in rows) - 0.5, max(row["last_round"] for row in rows) + 0.5)
    return Window(axis, min(row["first_ms"] for row in rows), max(row["last_ms"] for row in rows))


def neighbour(window: Window, bubbles: pa.Table, direction: str) -> Window | None:
    """Return a window of the same length around the nearest bubble beyond the middle, given ``bubble_rounds``.

    Args:
        window: What is visible now.
        bubbles: The rounds with avoidable rows.
        direction: ``previous`` or ``next``.
    """
    middle = (window.low + window.high) / 2
    places = [_middle(row, window.axis) for row in bubbles.to_pylist()]
    slack = 1e-3 * (window.high - window.low)
    beyond = [at for at in places if (at > middle + slack if direction == "next" else at < middle - slack)]
    if not beyond:
        return None
    at = min(beyond) if direction == "next" else max(beyond)
    half = (window.high - window.low) / 2
    return Window(window.axis, at - half, at + half)


def _middle(row: dict[str, float], axis: str) -> float:
    return (row["start_ms"] + row["end_ms"]) / 2 if axis == "time" else row["round"]
