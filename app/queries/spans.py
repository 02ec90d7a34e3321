"""Component intervals of a window, one lane a clock, component and rank."""

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from radixflow.app.queries.windowed import Window, read_rounds

MAX_SPANS = 500
"""Most intervals drawn; beyond, consecutive rounds of a lane become one mark."""
MAX_ROUNDS_PER_MARK = 50
"""No spans are drawn where a rectangle of the raster stands for more rounds than this: they would say little."""
_NOTHING = pa.table({"run": pa.array([], pa.int32())})


def spans_at(connection: duckdb.DuckDBPyConnection, window: Window, rounds_per_mark: int) -> pa.Table:
    """Read the intervals of a window as its level calls for: none where a mark of the raster holds very many rounds.

    Intervals are times: over rounds there are none either.
    """
    is_shown = window.axis == "time" and rounds_per_mark <= MAX_ROUNDS_PER_MARK
    return spans(connection, window) if is_shown else _NOTHING


def are_single(table: pa.Table) -> bool:
    """Say whether every row is one interval; if so, a narrower window can be cut from the table without a query."""
    return "num_spans" in table.column_names and (pc.max(table["num_spans"]).as_py() or 1) == 1


def spans(connection: duckdb.DuckDBPyConnection, window: Window, max_marks: int = MAX_SPANS) -> pa.Table:
    """Read the intervals of a window of time, thinned so that at most about ``max_marks`` are left.

    A mark of several intervals reaches from the first start to the last end; ``busy_fraction`` is the share of that
    time that its intervals take, at most 1: intervals of one lane may overlap.
    """
    sql = """WITH inside AS (SELECT * FROM round_spans WHERE {inside} AND {exactly}),
             counted AS (
                 SELECT count(*) AS total, max(round) - min(round) + 1 AS num_rounds,
                        count(DISTINCT concat_ws('/', run, clock, component, process_rank)) AS num_lanes
                 FROM inside),
             level AS (
                 SELECT if(total <= $max_marks, 0, ceil(num_rounds * num_lanes / $max_marks)::BIGINT) AS step
                 FROM counted)
             SELECT run, clock, component, process_rank, min(round) AS first_round, max(round) AS last_round,
                    min(start_ms) AS start_ms, max(end_ms) AS end_ms, count(*) AS num_spans,
                    least(1, sum(duration_ms) / nullif(max(end_ms) - min(start_ms), 0)) AS busy_fraction
             FROM inside, level
             GROUP BY run, clock, component, process_rank, CASE step WHEN 0 THEN start_ms ELSE round // step END
             ORDER BY run, clock DESC, process_rank NULLS FIRST, component, start_ms"""
    return read_rounds(connection, window, sql, max_marks=max_marks)
