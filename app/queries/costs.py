"""What fewer rounds saved, and what the remaining rounds cost more."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read

MAX_POINTS = 2000
"""Most rounds of one run that a figure of single rounds shows."""


def shifts(connection: duckdb.DuckDBPyConnection, run_a: int, run_b: int) -> pa.Table:
    """Read the cost shift of a pair, one row a clock.

    What the shape of the batches explains stands beside it where both speak of the same rounds, else NULL.
    """
    sql = """SELECT shift.*, shape.shape_cost_ms, shape.unexplained_cost_ms, shape.shape_fraction, shape.fit_fraction,
                    shape.per_row_ms, shape.per_1000_tokens_ms, shape.per_1000_reused_tokens_ms,
                    shape.per_million_attention_ms
             FROM cost_shift AS shift
             LEFT JOIN cost_shift_by_shape AS shape
                 ON shape.run_a = shift.run_a AND shape.run_b = shift.run_b AND shape.clock = shift.clock
                 AND shape.num_rounds_a = shift.num_rounds_a AND shape.num_rounds_b = shift.num_rounds_b
             WHERE shift.run_a = $run_a AND shift.run_b = $run_b
             ORDER BY list_position(['host_round', 'host_execute', 'device'], shift.clock)"""
    return read(connection, sql, run_a=run_a, run_b=run_b)


def every_nth_round(shifts: pa.Table, max_points: int = MAX_POINTS) -> int:
    """Return n such that a figure with every n-th round has at most ``max_points`` points a run, given ``shifts``."""
    most = max((max(row["num_rounds_a"], row["num_rounds_b"]) for row in shifts.to_pylist()), default=0)
    return max(1, -(-int(most) // max_points))


def rounds(connection: duckdb.DuckDBPyConnection, run_a: int, run_b: int, clock: str, step: int) -> pa.Table:
    """Read cost and shape of about one in ``step`` rounds of a pair, chosen by a hash of their number."""
    sql = """SELECT run, round, cost_ms, rows_used, tokens_scheduled, num_reused_tokens
             FROM round_cost_shapes WHERE run IN ($run_a, $run_b) AND clock = $clock AND hash(round) % $step = 0
             ORDER BY run, round"""
    return read(connection, sql, run_a=run_a, run_b=run_b, clock=clock, step=step)


def host_times(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read what a round costs the host part by part, and the time between rounds, of each run."""
    return read(connection, "SELECT * EXCLUDE (run) FROM host_times ORDER BY host_times.run")
