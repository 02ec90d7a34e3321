"""Queries about one round, for the page that shows it close up."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read, read_rounds
from radixflow.schema.reading.windows import RoundRange


def ranges(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read, for each run, its first and last round, and the round with the most avoidable rows (the first, if none)."""
    sql = """SELECT run, label, min(round) AS first_round, max(round) AS last_round,
                    arg_max(round, (rows_avoidable, -round)) AS worst_round
             FROM runs JOIN round_occupancy USING (run) GROUP BY run, label ORDER BY run"""
    return read(connection, sql)


def neighbours(connection: duckdb.DuckDBPyConnection, run: int, number: int) -> pa.Table:
    """Read the rounds before and after one, and the nearest ones with an avoidable row; NULL where there is none."""
    sql = """SELECT max(round) FILTER (round < $number) AS previous_round,
                    min(round) FILTER (round > $number) AS next_round,
                    max(round) FILTER (round < $number AND rows_avoidable > 0) AS previous_bubble,
                    min(round) FILTER (round > $number AND rows_avoidable > 0) AS next_bubble
             FROM round_occupancy WHERE run = $run"""
    return read(connection, sql, run=run, number=number)


def one_round(connection: duckdb.DuckDBPyConnection, run: int, number: int) -> pa.Table:
    """Read what one round did: its slot ledger, its scan and its times; no row if there is no such round."""
    sql = """SELECT label, probe, o.*, d.* EXCLUDE (run, round, start_ms, end_ms, duration_ms)
             FROM round_occupancy AS o JOIN round_details AS d ON d.run = o.run AND d.round = o.round
             JOIN runs ON runs.run = o.run
             WHERE o.run = $run AND o.round = $number AND d.run = $run AND d.round = $number"""
    return read_rounds(connection, RoundRange(run, number, number), sql, run=run, number=number)


def scan(connection: duckdb.DuckDBPyConnection, run: int, number: int, limit: int = 2000) -> pa.Table:
    """Read every request that a round considered, in the order of its scan."""
    sql = """SELECT step, visit, witness, outcome, slot_class, request_id, request_group, kind, num_tokens,
                    num_reused_tokens, tokens_before, reason, cause, producer_request_id, published_round,
                    matched_tokens, ready_tokens, num_tokens_lost
             FROM round_scan WHERE run = $run AND round = $number ORDER BY step LIMIT $limit"""
    return read_rounds(connection, RoundRange(run, number, number), sql, run=run, number=number, limit=limit)


def cells(connection: duckdb.DuckDBPyConnection, run: int, number: int) -> pa.Table:
    """Read how many row slots of a round are of which class, a wait on a producer by its cause."""
    sql = """SELECT slot_class, if(slot_class = 'dependency_wait', cause, NULL) AS cause, count(*) AS num_slots,
                    min(slot) AS first_slot
             FROM slot_cells WHERE run = $run AND round = $number
             GROUP BY ALL ORDER BY first_slot"""
    return read_rounds(connection, RoundRange(run, number, number), sql, run=run, number=number)


def rows(connection: duckdb.DuckDBPyConnection, run: int, number: int) -> pa.Table:
    """Read the rows of a round: which tokens of which request it computed, restored and published."""
    sql = """SELECT slot, request_id, request_group, kind, first_token, end_token, num_tokens, num_reused_tokens,
                    restored_state, published_state
             FROM request_rows WHERE run = $run AND round = $number ORDER BY slot"""
    return read_rounds(connection, RoundRange(run, number, number), sql, run=run, number=number)


def spans(connection: duckdb.DuckDBPyConnection, run: int, number: int) -> pa.Table:
    """Read the intervals of a round, in the order in which they begin."""
    sql = """SELECT component, process_rank, clock, after_round_start_ms, duration_ms
             FROM round_spans WHERE run = $run AND round = $number
             ORDER BY after_round_start_ms, clock, component, process_rank LIMIT 500"""
    return read_rounds(connection, RoundRange(run, number, number), sql, run=run, number=number)
