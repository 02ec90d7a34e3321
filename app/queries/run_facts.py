"""What the opened runs are, what their five numbers are, and what is wrong with them."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read, read_here


def runs(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read one row a run: names, state, engine, model, limits, workload, machine."""
    return read(connection, "SELECT * FROM runs ORDER BY run")


def label_of(runs: pa.Table, run: int) -> str:
    """Return the name of a run, given ``runs``."""
    return next(str(row["label"]) for row in runs.to_pylist() if row["run"] == run)


def run_summary(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the numbers of each run."""
    return read(connection, "SELECT * FROM run_summary ORDER BY run")


def paired_summary(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the differences of each ordered pair of runs over one stream."""
    ((num_runs,),) = connection.cursor().execute("SELECT count(*) FROM runs").fetchall()
    if num_runs < 2:  # a run alone has none, and need not be read to know it
        return read_here(connection.cursor(), "SELECT * FROM paired_summary LIMIT 0")
    return read(connection, "SELECT * FROM paired_summary ORDER BY run_a, run_b")


def ledger_faults(connection: duckdb.DuckDBPyConnection, limit: int = 200) -> pa.Table:
    """Read which slot and token ledgers do not close."""
    sql = "SELECT label, f.* FROM ledger_faults f JOIN runs USING (run) ORDER BY run, round, request LIMIT $limit"
    return read(connection, sql, limit=limit)


def segment_faults(connection: duckdb.DuckDBPyConnection, limit: int = 200) -> pa.Table:
    """Read which segments were left out because they cannot be read."""
    sql = (
        "SELECT label, f.* FROM segment_faults f JOIN runs USING (run) ORDER BY run, table_name, file_name LIMIT $limit"
    )
    return read(connection, sql, limit=limit)
