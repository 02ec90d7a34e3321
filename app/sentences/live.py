"""What a run that is being recorded shows, in a sentence."""

import pyarrow as pa

from radixflow.app import units


def live_sentence(totals: pa.Table) -> str:
    """Say how many of the last rounds were bubbles.

    Args:
        totals: The row of ``queries.live.RollingRounds.totals``.
    """
    (row,) = totals.to_pylist()
    if not row["num_rounds"]:
        return "No round has been recorded yet."
    last = f"The last {units.counted(row['num_rounds'], 'round')} ({units.duration(row['duration_ms'])})"
    if row["rows_avoidable"] is None:
        return f"{last} ran without the probe: whether unused rows were avoidable is {units.NOT_MEASURED}."
    share = units.fraction(row["bubble_round_fraction"])
    rows = units.counted(row["rows_avoidable"], "row")
    return f"{last}: {share} left rows unused although work was READY, {rows} in all."


def end_sentence(state: str) -> str:
    """Say how a recording that was followed has ended."""
    if state == "complete":
        return "The recording has ended and is complete."
    return "The recording has ended early: its writers have been silent, and it is incomplete."
