"""Whether what a policy gains holds over streams, and how latency grows with load."""

import duckdb
import pyarrow as pa

from radixflow.app.queries.reading import read


def pairs_of_policies(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read which policies were run over the same streams, the pair with the most streams first."""
    sql = """SELECT policy_a, policy_b, model_name, experiment, num_streams FROM sensitivity_summary
             WHERE scope = 'over_everything' ORDER BY num_streams DESC, policy_a, policy_b"""
    return read(connection, sql)


def gains(connection: duckdb.DuckDBPyConnection, policy_a: str, policy_b: str) -> pa.Table:
    """Read what one policy gains on another, stream by stream."""
    sql = """SELECT stream, regime, input_order, repeat, arrival_rate, run_a, run_b, num_rounds_saved,
                    rounds_saved_fraction, mean_latency_saved_ms, latency_saved_fraction
             FROM sensitivity WHERE policy_a = $policy_a AND policy_b = $policy_b
             ORDER BY regime, input_order, arrival_rate, repeat, stream"""
    return read(connection, sql, policy_a=policy_a, policy_b=policy_b)


def summary(connection: duckdb.DuckDBPyConnection, policy_a: str, policy_b: str) -> pa.Table:
    """Read how far the gain holds: over everything, over the orders of a regime, over the repeats of an order."""
    sql = """SELECT * EXCLUDE (policy_a, policy_b) FROM sensitivity_summary
             WHERE policy_a = $policy_a AND policy_b = $policy_b
             ORDER BY list_position(['over_everything', 'over_orders', 'over_repeats'], scope), scope_value"""
    return read(connection, sql, policy_a=policy_a, policy_b=policy_b)


def load(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read one point a run over its offered load."""
    return read(connection, "SELECT * FROM load_curve ORDER BY policy, regime, input_order, offered_per_second")


def arms(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Read the numbers of each policy over all its runs, then by regime, order and repeat."""
    sql = """SELECT * REPLACE (coalesce(scope_value, 'every stream') AS scope_value) FROM arm_summary AS arms
             ORDER BY list_position(['all', 'regime', 'input_order', 'repeat'], scope), arms.scope_value, policy,
                      model_name, engine_kind, vllm_version"""
    return read(connection, sql)
