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


CAUSES = {"being_written": "being written", "marked_again": "marked again"}
"""Cause of a BLOCKED visit to what its state was."""


def causes_sentence(causes: pa.Table, runs: pa.Table) -> str:
    """Say how often a scan stopped for each cause, and what lay behind the stop; empty where nobody was refused.

    Args:
        causes: Rows of ``queries.blocked.causes``.
        runs: Rows of ``runs``.
    """
    probes = {run["run"]: run["probe"] for run in runs.to_pylist()}
    return " ".join(_cause(row, probes[row["run"]]) for row in causes.to_pylist())


def _cause(row: dict[str, Any], probe: str) -> str:
    state = f"a state {CAUSES.get(row['cause'], 'of an unknown cause')}"
    if row["num_rounds_stopped"] is None:
        share = units.fraction(row["stopped_rounds_fraction"])
        return f"{row['label']}: {state} stops the scan of {share} of the rounds that were kept."
    if not row["num_rounds_stopped"]:
        return f"{row['label']}: {state} refuses {units.counted(row['num_requests'], 'request')} and stops no scan."
    stopped = f"{units.counted(row['num_rounds_stopped'], 'round')} ({units.duration(row['stopped_ms'])} together)"
    behind = (
        f"what lay behind is {units.NOT_MEASURED}, since the probe was off"
        if probe == "off"
        else f"{units.counted(row['rows_avoidable'], 'row')} behind it could have run"
    )
    return f"{row['label']}: {state} stops the scan of {stopped}; {behind}."
