"""The sentence that says how many requests were blocked."""

from typing import Any

import pyarrow as pa

from radixflow.app import units


def blocked_sentence(summary: pa.Table) -> str:
    """Say how many requests of each arm were blocked by their recurrent state, and how many of them came through.

    Args:
        summary: Rows of ``run_summary``.
    """
    return " ".join(_arm(row) for row in summary.to_pylist())


def _arm(row: dict[str, Any]) -> str:
    if row["num_blocked_visits"] is None:
        return f"Whether {row['label']} met a blocked request is {units.NOT_MEASURED}."
    if not row["num_blocked_visits"]:
        return f"{row['label']} never met a blocked request."
    return (
        f"{row['label']} met {units.counted(row['num_blocked_visits'], 'BLOCKED visit')} of "
        f"{units.counted(row['num_blocked_requests'], 'request')}; "
        f"{units.number(row['num_recovered_requests'])} of them were selected later."
    )
