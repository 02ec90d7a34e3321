"""From a window of time to the rounds in it, read off the statistics of the files; views are then asked by round.

The views give times relative to the first round, and no statistics of a file say those: a filter on ``start_ms`` reads
a whole run. A filter on ``run`` and ``round`` reaches the Parquet scans of every view of rounds.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import duckdb

from radixflow.schema.reading.table_views import table_view
from radixflow.schema.tables import ALL_TABLES

TABLES_BY_ROUND = tuple(
    name for name, schema in ALL_TABLES.items() if "round" in schema.names and not schema.field("round").nullable
)
"""Tables in which every row belongs to a round: of these, a window reads only the files that hold its rounds."""
FEW_FILES = 8
"""A table with at most this many files is read whole: choosing among so few files would not pay."""


class RoundRange(NamedTuple):
    """Consecutive rounds of one run.

    Attributes:
        run: Number of the run.
        first: First round.
        last: Last round.
    """

    run: int
    first: int
    last: int


class Window(NamedTuple):
    """A part of the opened runs to ask for.

    Attributes:
        cursor: The cursor to query. Rows outside the window may be missing in it, and names of requests that appear
            only outside of it are NULL.
        condition: SQL condition on ``run`` and ``round`` for every view of rounds.
    """

    cursor: duckdb.DuckDBPyConnection
    condition: str


_REQUESTS = """
SELECT min(low), max(high)
FROM (
    SELECT min(request) AS low, max(request) AS high FROM rows WHERE {where}
    UNION ALL
    SELECT least(min(request), min(producer)), greatest(max(request), max(producer)) FROM round_visits WHERE {where}
    UNION ALL
    SELECT min(stop_request), max(stop_request) FROM rounds WHERE {where}
)
"""
_ROUNDS = """
WITH unfinished AS (
    SELECT round, schedule_end_ns FROM rounds
    WHERE run = {run} AND update_end_ns IS NULL AND schedule_start_ns <= {high}
),
ended AS (
    SELECT round FROM rounds WHERE run = {run} AND schedule_start_ns <= {high} AND update_end_ns >= {low}
    UNION ALL
    SELECT round
    FROM unfinished
    LEFT JOIN (
        SELECT spans.round, max(end_ns) AS execute_end_ns FROM spans JOIN unfinished USING (round)
        WHERE spans.run = {run} AND component = 'execute' AND clock = 'host' GROUP BY spans.round
    ) AS executed USING (round)
    WHERE greatest(schedule_end_ns, execute_end_ns) >= {low}
)
SELECT min(round), max(round) FROM ended
"""


def rounds_in_window(connection: duckdb.DuckDBPyConnection, low_ms: float, high_ms: float) -> list[RoundRange]:
    """Return, for each run with any, the range of rounds that hold all those which touch a window of time.

    A round at the ends may lie just outside, since ends are taken before the time of the probe is subtracted.

    Args:
        connection: Opened runs.
        low_ms: Begin of the window, in ms after the start of the first round of each run; may be infinite.
        high_ms: End of the window.
    """
    runs = connection.execute("SELECT run, origin_ns FROM runs WHERE origin_ns IS NOT NULL ORDER BY run").fetchall()
    ranges = []
    for run, origin_ns in runs:
        low, high = (_to_ns(origin_ns, each) for each in (low_ms, high_ms))
        ((first, last),) = connection.execute(_ROUNDS.format(run=run, low=low, high=high)).fetchall()
        if first is not None:
            ranges.append(RoundRange(run, first, last))
    return ranges


def within(ranges: list[RoundRange]) -> str:
    """Return the SQL condition on ``run`` and ``round`` that holds for exactly these rounds."""
    parts = [f"(run = {each.run} AND round BETWEEN {each.first} AND {each.last})" for each in ranges]
    return "(" + (" OR ".join(parts) or "false") + ")"


@contextmanager
def window(connection: duckdb.DuckDBPyConnection, ranges: list[RoundRange], has_names: bool = True) -> Iterator[Window]:
    """Return a cursor whose tables are limited to a window, so that a query is quick however long the runs are.

    Args:
        connection: Opened runs.
        ranges: The window, from :func:`rounds_in_window`.
        has_names: Whether the query reads names of requests, which takes an additional look-up.
    """
    cursor, condition = connection.cursor(), within(ranges)
    try:
        _read_few_files(cursor, ranges)
        if ranges:
            first, last = min(each.first for each in ranges), max(each.last for each in ranges)
            cursor.execute(f"SET VARIABLE first_round = {first}; SET VARIABLE last_round = {last}")
        if has_names:
            ((low, high),) = cursor.execute(_REQUESTS.format(where=condition)).fetchall()
            if low is not None:
                cursor.execute(f"SET VARIABLE first_request = {low}; SET VARIABLE last_request = {high}")
        yield Window(cursor, condition)
    finally:
        cursor.close()


def _read_few_files(cursor: duckdb.DuckDBPyConnection, ranges: list[RoundRange]) -> None:
    """Let this cursor read the files alone that hold the rounds, and those next to them: every file costs a moment."""
    asked = " OR ".join(
        f"(run = {each.run} AND coalesce(first_round <= {each.last + 1} AND last_round >= {each.first - 1}, true))"
        for each in ranges
    )
    query = f"SELECT table_name, run, path, {asked or 'false'} FROM opened_segments ORDER BY table_name, run, path"
    files: dict[str, dict[int, list[str]]] = {}
    num_files: dict[str, int] = {}
    for table, run, path, is_inside in cursor.execute(query).fetchall():
        num_files[table] = num_files.get(table, 0) + 1
        if is_inside:
            files.setdefault(table, {}).setdefault(run, []).append(path)
    for table, count in num_files.items():
        if count > FEW_FILES:
            cursor.execute(table_view(table, ALL_TABLES[table], files.get(table, {}), "TEMP VIEW"))


def _to_ns(origin_ns: int, ms: float) -> int:
    """Move to the monotonic clock, within what 64 bits hold."""
    limit = 2**62
    return int(max(-limit, min(limit, origin_ns + ms * 1e6)))
