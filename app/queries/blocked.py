"""Who was blocked, behind whom, and for how long."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read


def visits_by_cause(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read how many BLOCKED visits each run has by cause and witness, and how many requests and rounds they touch."""
    return read(connection, "SELECT * FROM blocking_witnesses ORDER BY run, cause, witness")


def causes(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read what refusals of each cause cost each run."""
    return read(connection, "SELECT * FROM blocking_causes ORDER BY run, cause")


def recovery(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read whether a refused request is taken in the next round, and how many rounds later otherwise."""
    return read(connection, "SELECT * EXCLUDE (run) FROM blocking_recovery ORDER BY blocking_recovery.run, cause")


def producers(connection: duckdb.DuckDBPyConnection, limit: int = 15) -> pa.Table:
    """Read the producers that most visits waited for, by cause, with some of the consumers' names."""
    sql = """SELECT run, producer_request_id, cause, num_visits, num_consumers, consumers, first_round, last_round,
                    num_all_visits AS total
             FROM awaited_producers WHERE producer_request_id IS NOT NULL AND producer_rank <= $limit
             ORDER BY run, total DESC, producer_request_id, cause"""
    return read(connection, sql, limit=limit)


def consumers(connection: duckdb.DuckDBPyConnection, limit: int = 30) -> pa.Table:
    """Read the blocked requests of each run that waited longest from registration to first selection."""
    sql = """SELECT run, request_id, request_group, registered_ms, first_selected_ms, waiting_ms, num_blocked_visits,
                    outcome
             FROM request_lives WHERE num_blocked_visits > 0
             QUALIFY row_number() OVER (PARTITION BY run ORDER BY waiting_ms DESC NULLS FIRST, request_id) <= $limit
             ORDER BY run, waiting_ms DESC NULLS FIRST, request_id"""
    return read(connection, sql, limit=limit)


def visits_of_consumers(connection: duckdb.DuckDBPyConnection, limit: int = 30) -> pa.Table:
    """Read every BLOCKED visit of the requests that ``consumers`` lists."""
    slowest = """SELECT run, request FROM request_lives WHERE num_blocked_visits > 0 AND request IS NOT NULL
                 QUALIFY row_number()
                         OVER (PARTITION BY run ORDER BY waiting_ms DESC NULLS FIRST, request_id) <= $limit"""
    # Named by number in the condition, the requests are looked for in the files themselves.
    wanted = [
        f"(run = {run} AND request = {request})" for run, request in _pairs(read(connection, slowest, limit=limit))
    ]
    sql = f"""SELECT run, request_id, round, start_ms, cause, witness, producer_request_id, published_round,
                     matched_tokens, ready_tokens, num_tokens_lost
              FROM blocked_visits WHERE {" OR ".join(wanted) or "false"} ORDER BY run, start_ms, visit LIMIT 4000"""
    return read(connection, sql)


def consumers_of_run(connection: duckdb.DuckDBPyConnection, run: int, limit: int = 500) -> pa.Table:
    """Read the blocked requests of one run, the longest wait first."""
    sql = """SELECT request_id, request_group, num_blocked_visits, waiting_ms, registered_ms, first_selected_ms, outcome
             FROM request_lives WHERE run = $run AND num_blocked_visits > 0
             ORDER BY waiting_ms DESC NULLS FIRST, request_id LIMIT $limit"""
    return read(connection, sql, run=run, limit=limit)


def recovered(connection: duckdb.DuckDBPyConnection, run: int, limit: int = 500) -> pa.Table:
    """Read the rows of one run that selected a request which had been refused before, in the order of time."""
    sql = """SELECT request_id, request_group, round, start_ms, slot, num_tokens, num_reused_tokens, num_blocked_visits,
                    num_rounds_blocked, blocked_ms
             FROM recovered_rows WHERE run = $run ORDER BY round, slot LIMIT $limit"""
    return read(connection, sql, run=run, limit=limit)


def starvation(connection: duckdb.DuckDBPyConnection, run: int) -> pa.Table:
    """Read the requests of one run that waited longest, refused or not, with who came first although it was later."""
    sql = """SELECT wait_rank, request_id, is_selected, waited_ms, num_rounds_waited, num_deferrals,
                    num_blocked_visits, blocked_ms, num_overtakes
             FROM starvation WHERE run = $run ORDER BY wait_rank"""
    return read(connection, sql, run=run)


def _pairs(table: pa.Table) -> list[tuple[int, int]]:
    return [(row["run"], row["request"]) for row in table.to_pylist()]
