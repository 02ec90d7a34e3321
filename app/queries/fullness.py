"""How full the rounds are."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read

MAX_BARS = 480
"""Most bars of one run; a run with more rounds than this is drawn with averages of consecutive rounds."""


def rounds_per_bar(summary: pa.Table, max_bars: int = MAX_BARS) -> int:
    """Say how many consecutive rounds one bar must stand for, given ``run_summary``."""
    most = max((count or 0 for count in summary["num_rounds"].to_pylist()), default=0)
    return max(1, -(-most // max_bars))


def fullness_by_round(connection: duckdb.DuckDBPyConnection, step: int) -> pa.Table:
    """Read rows and tokens of each round, averaged over ``step`` consecutive rounds."""
    sql = """SELECT run, min(round) AS first_round, max(round) AS last_round, avg(rows_used) AS rows_used,
                    avg(rows_avoidable) AS rows_avoidable, max(row_capacity) AS row_capacity,
                    avg(tokens_scheduled) AS tokens_scheduled, avg(tokens_avoidable) AS tokens_avoidable,
                    max(token_budget) AS token_budget
             FROM round_occupancy GROUP BY run, (round - 1) // $step ORDER BY run, first_round"""
    return read(connection, sql, step=step)


def rows_distribution(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read how many rounds of each run used how many rows."""
    sql = """SELECT run, level AS rows_used, row_capacity, num_rounds_kept AS num_rounds
             FROM fullness_distribution WHERE measure = 'rows' ORDER BY run, level"""
    return read(connection, sql)


def tokens_distribution(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read how many rounds of each run used how much of their token budget, by twentieths of it."""
    sql = """SELECT run, level, filled_fraction, num_rounds_kept AS num_rounds
             FROM fullness_distribution WHERE measure = 'tokens' AND level IS NOT NULL ORDER BY run, level"""
    return read(connection, sql)


def capacity_bound(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the least number of rounds that rows and token budget allow for the work of each run."""
    return read(connection, "SELECT * EXCLUDE (stream) FROM capacity_bound ORDER BY run")


def slot_ledger(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the slot ledger of each run in rows and in time, in the order of the ledger."""
    sql = """SELECT label, slot_class, num_slots, slot_fraction, slot_ms, slot_time_fraction
             FROM slot_ledger ORDER BY run, position"""
    return read(connection, sql)


def visit_outcomes(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read how the looks of scan and probe at waiting requests ended, the most frequent outcome first."""
    sql = """SELECT label, outcomes.* FROM visit_outcomes AS outcomes JOIN runs USING (run)
             ORDER BY run, witness, num_visits DESC, outcome, reason, cause"""
    return read(connection, sql)


def slot_totals(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the slot ledger of each run: row slots over all rounds, by class, a wait on a producer by its cause."""
    return read(connection, "SELECT * FROM slot_causes ORDER BY run, slot_class, cause")


def stop_reasons(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read what ended the scans of each run."""
    return read(connection, "SELECT * FROM stop_reasons ORDER BY run, num_rounds DESC")
