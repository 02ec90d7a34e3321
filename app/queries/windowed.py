"""Windows of the timeline, and queries that read no more of the files than a window needs."""

import math
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from radixflow.app.queries.reading import read_here
from radixflow.app.queries.rounds_at_hand import hold_rounds
from radixflow.schema.reading import windows
from radixflow.schema.reading.windows import RoundRange

_MOST_ROUNDS = 2**62


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


def drawn_window(visible: Window, whole: Window | None = None) -> Window:
    """Return the window to draw for a visible one: half a window more at each end, so that panning shows no gap.

    Args:
        visible: What is visible.
        whole: Where the runs begin and end: nothing lies beyond, so nothing is asked for there.
    """
    margin = (visible.high - visible.low) / 2
    low, high = visible.low - margin, visible.high + margin
    if whole and whole.axis == visible.axis:
        low, high = max(low, min(whole.low, visible.low)), min(high, max(whole.high, visible.high))
    return Window(visible.axis, low, high)


def round_ranges(connection: duckdb.DuckDBPyConnection, window: Window) -> list[RoundRange]:
    """Return the rounds of each run that hold all those of a window; by time, one more may lie at the ends."""
    if window.axis == "time":
        return _rounds_by_time(connection, window)
    first, last = (int(max(-_MOST_ROUNDS, min(_MOST_ROUNDS, end))) for end in (_up(window.low), _down(window.high)))
    runs = connection.execute("SELECT run FROM runs ORDER BY run").fetchall()
    return [RoundRange(run, first, last) for (run,) in runs if first <= last]


def _rounds_by_time(connection: duckdb.DuckDBPyConnection, window: Window) -> list[RoundRange]:
    if not hold_rounds(connection):
        return windows.rounds_in_window(connection, window.low, window.high)
    sql = f"SELECT run, min(round), max(round) FROM rounds_at_hand WHERE {exactly(window)} GROUP BY run ORDER BY run"
    return [RoundRange(*found) for found in connection.execute(sql).fetchall()]


def read_rounds(connection: duckdb.DuckDBPyConnection, window: Window, sql: str, **parameters: Any) -> pa.Table:
    """Run a SELECT whose ``{inside}`` is the condition on ``run`` and ``round`` and whose ``{exactly}`` is the window.

    Raises:
        RadixflowError: As :func:`radixflow.app.queries.reading.read`.
    """
    cursor = connection.cursor()
    try:
        inside = windows.within(round_ranges(cursor, window))
        return read_here(cursor, sql.format(inside=inside, exactly=exactly(window)), **parameters)
    finally:
        cursor.close()


def read_at_hand(connection: duckdb.DuckDBPyConnection, window: Window, sql: str, **parameters: Any) -> pa.Table:
    """Do as :func:`read_rounds`, of ``rounds_at_hand`` alone: what is in memory is found without ``{inside}``."""
    if not hold_rounds(connection):
        return read_rounds(connection, window, sql, **parameters)
    cursor = connection.cursor()
    try:
        return read_here(cursor, sql.format(inside="true", exactly=exactly(window)), **parameters)
    finally:
        cursor.close()


def read_sums(connection: duckdb.DuckDBPyConnection, window: Window, sql: str) -> pa.Table:
    """Run a SELECT over a view that adds rounds up, such as ``bubble_totals``, of the rounds of a window alone.

    What is added up and how is said by the view; for the time of the question no other rounds are there for it.

    Raises:
        RadixflowError: As :func:`radixflow.app.queries.reading.read`.
    """
    is_at_hand = hold_rounds(connection)
    cursor = connection.cursor()
    try:
        # A temporary view is of this cursor, and gone with it; the view that it hides is still found by its full name.
        rounds, inside = "rounds_at_hand", "true"
        if not is_at_hand:
            rounds, inside = "memory.main.round_ends", windows.within(round_ranges(cursor, window))
        cursor.execute(f"CREATE TEMP VIEW round_ends AS SELECT * FROM {rounds} WHERE {inside} AND {exactly(window)}")
        return read_here(cursor, sql)
    finally:
        cursor.close()


def read_named(
    connection: duckdb.DuckDBPyConnection, window: Window, sql: str, has_names: bool = True, **parameters: Any
) -> pa.Table:
    """Do as :func:`read_rounds`, of views that need to know the window: those of visits and of names of requests.

    Without ``has_names`` names are not looked up, and NULL or those of any request.
    """
    cursor = connection.cursor()
    try:
        with windows.window(connection, round_ranges(cursor, window), has_names) as part:
            return read_here(part.cursor, sql.format(inside=part.condition, exactly=exactly(window)), **parameters)
    finally:
        cursor.close()


def exactly(window: Window) -> str:
    """Return the SQL condition on a view of rounds that holds for what touches the window."""
    if window.axis == "round":
        return f"round >= {_number(window.low)} AND round <= {_number(window.high)}"
    return f"end_ms >= {_number(window.low)} AND start_ms <= {_number(window.high)}"


def holds(outer: Window, inner: Window) -> bool:
    """Say whether the window ``outer`` contains the window ``inner``, so that everything in it is already read."""
    return outer.axis == inner.axis and outer.low <= inner.low and inner.high <= outer.high


def cut(table: pa.Table, window: Window) -> pa.Table:
    """Return the rows that touch a window, as :func:`exactly` says it in SQL."""
    if window.axis == "round":
        low, high = table["round"], table["round"]
    else:
        low, high = table["start_ms"], table["end_ms"]
    return table.filter(pc.and_(pc.greater_equal(high, window.low), pc.less_equal(low, window.high)))


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else f"'{value}'::DOUBLE"


def _up(value: float) -> float:
    return math.ceil(value) if math.isfinite(value) else value


def _down(value: float) -> float:
    return math.floor(value) if math.isfinite(value) else value
