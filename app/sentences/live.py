"""What a run that is being recorded shows, in a sentence."""

import pyarrow as pa

from radixflow.app import units


def live_sentence(tracks: pa.Table, is_probed: bool) -> str:
    """Say how many of the last rounds were bubbles.

    Args:
        tracks: Rows of ``queries.live.RollingRounds.tracks``.
        is_probed: Whether the probe looks for READY requests.
    """
    if tracks.num_rows == 0:
        return "No round has been recorded yet."
    rows = tracks.to_pylist()
    lasting = units.duration(rows[-1]["end_ms"] - rows[0]["start_ms"])
    last = f"The last {units.counted(len(rows), 'round')} ({lasting})"
    if not is_probed:
        return f"{last} ran without the probe: whether unused rows were avoidable is {units.NOT_MEASURED}."
    bubbles = [row["rows_avoidable"] for row in rows if row["rows_avoidable"]]
    share = units.fraction(len(bubbles) / len(rows))
    return f"{last}: {share} left rows unused although work was READY, {units.counted(sum(bubbles), 'row')} in all."


def end_sentence(state: str) -> str:
    """Say how a recording that was followed has ended."""
    if state == "complete":
        return "The recording has ended and is complete."
    return "The recording has ended early: its writers have been silent, and it is incomplete."
