"""When the engine made steps that scheduled nothing while work waited, and what held it up."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read
from radixflow.app.queries.windowed import Window

MAX_STALL_MARKS = 200
"""Most stalls that a timeline draws, the longest of each window; with the other marks it stays below 4,000."""


def summary(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the numbers of stalls of each run, and why one is missing."""
    return read(connection, "SELECT * FROM stall_summary ORDER BY run")


def reasons(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read what held up the steps of each run, the longest first."""
    return read(connection, "SELECT * FROM stall_reasons ORDER BY run, stalled_ms DESC, first_start_ms")


def in_window(connection: duckdb.DuckDBPyConnection, window: Window) -> pa.Table:
    """Read the longest stalls of a window of the timeline, and of each run how many there are in it.

    On an axis of rounds a stall stands between the round before it and the next one.
    """
    place = "(coalesce(round_before, 0)::DOUBLE + 0.5::DOUBLE)"
    touches = "end_ms >= $low AND start_ms <= $high"
    if window.axis == "round":
        touches = f"{place} BETWEEN $low AND $high"
    sql = f"""
        SELECT * EXCLUDE (rank) FROM (
            SELECT *, {place} AS place, count(*) OVER (PARTITION BY run)::BIGINT AS num_in_window,
                row_number() OVER (ORDER BY duration_ms DESC, run, start_ms) AS rank
            FROM stall_times WHERE kind <> 'awaits_output' AND {touches})
        WHERE rank <= $most ORDER BY run, start_ms"""
    return read(connection, sql, low=window.low, high=window.high, most=MAX_STALL_MARKS)
