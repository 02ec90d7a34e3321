"""How long requests took, in sentences."""

from typing import Any

import pyarrow as pa

from radixflow.app import units

SUBJECTS = {"branch": "Branches", "group": "Request groups"}
"""Subject of ``latencies`` to its name."""

INTERVALS = {
    "sent_to_completed": "Sent to completed",
    "offered_to_completed": "Due to completed",
    "sent_to_first_output": "Sent to first output",
    "sent_to_registered": "Sent to registered",
    "registered_to_selected": "Waiting to be selected",
    "selected_to_completed": "Selected to completed",
}
"""Interval of ``latencies`` to its name."""

INTERVALS_OF = {"branch": list(INTERVALS), "group": ["sent_to_completed", "offered_to_completed"]}
"""Subject to the intervals that are known of it."""


def latency_sentence(summary: pa.Table, subject: str, interval: str) -> str:
    """Say how long one interval lasts in each arm.

    Args:
        summary: Rows of ``queries.latency.summary``.
        subject: ``branch`` or ``group``.
        interval: Name of the interval.
    """
    what = f"{SUBJECTS[subject]}, {INTERVALS[interval].lower()}"
    rows = [row for row in summary.to_pylist() if row["num_values"]]
    if not rows:
        return f"{what}: {units.NOT_MEASURED}."
    return f"{what}: {'; '.join(_arm(row) for row in rows)}."


def _arm(row: dict[str, Any]) -> str:
    missing = f", {units.number(row['num_missing'])} have no end" if row["num_missing"] else ""
    return (
        f"{row['label']} takes {units.duration(row['p50_ms'])} at the median and {units.duration(row['p95_ms'])} at "
        f"the 95th percentile ({units.number(row['num_values'])} values{missing})"
    )


def split_sentence(split: pa.Table) -> str:
    """Say how much of the latency of each arm is waiting.

    Args:
        split: Rows of ``queries.latency.split``.
    """
    rows = split.to_pylist()
    if not rows:
        return f"What of the latency was waiting is {units.NOT_MEASURED}: no branch of these runs completed."
    return " ".join(
        f"{row['label']} spends {units.fraction(row['waiting_fraction'])} of the latency of its branches waiting: "
        f"{units.duration(row['mean_waiting_ms'])} of {units.duration(row['mean_latency_ms'])} on average."
        for row in rows
    )


def shown_sentence(parts: pa.Table, limit: int) -> str:
    """Say that a figure shows a part of the requests only; empty if it shows all.

    Args:
        parts: Rows of ``queries.latency.parts``.
        limit: Most of them that are read for one run.
    """
    runs = parts["run"].to_pylist()
    if not any(runs.count(run) >= limit for run in set(runs)):
        return ""
    return f"Of long runs {units.number(limit)} requests are shown, the same ones in every arm."
