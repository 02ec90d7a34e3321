"""Windows of the timeline, and queries that read no more of the files than a window needs."""

import math
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read_here
from radixflow.schema import windows
from radixflow.schema.windows import RoundRange

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
    """Return what to draw for what is visible: half a window more at both ends, so that a pan meets drawn marks.

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
        return windows.rounds_in_window(connection, window.low, window.high)
    first, last = (int(max(-_MOST_ROUNDS, min(_MOST_ROUNDS, end))) for end in (_up(window.low), _down(window.high)))
    runs = connection.execute("SELECT run FROM runs ORDER BY run").fetchall()
    return [RoundRange(run, first, last) for (run,) in runs if first <= last]


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


def read_named(connection: duckdb.DuckDBPyConnection, window: Window, sql: str, **parameters: Any) -> pa.Table:
    """Do as :func:`read_rounds`; the names of requests are looked up for this window alone."""
    cursor = connection.cursor()
    try:
        with windows.window(connection, round_ranges(cursor, window)) as part:
            return read_here(part.cursor, sql.format(inside=part.condition, exactly=exactly(window)), **parameters)
    finally:
        cursor.close()


def exactly(window: Window) -> str:
    """Return the SQL condition on a view of rounds that holds for what touches the window."""
    if window.axis == "round":
        return f"round >= {_number(window.low)} AND round <= {_number(window.high)}"
    return f"end_ms >= {_number(window.low)} AND start_ms <= {_number(window.high)}"


def _number(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else f"'{value}'::DOUBLE"


def _up(value: float) -> float:
    return math.ceil(value) if math.isfinite(value) else value


def _down(value: float) -> float:
    return math.floor(value) if math.isfinite(value) else value
