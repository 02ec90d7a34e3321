"""What a timeline shows, in a sentence."""

from typing import Any

import pyarrow as pa

from radixflow.app import units


def bubble_sentence(totals: pa.Table) -> str:
    """Say how many rows each arm left unused although work was READY, and in how many of its rounds.

    Args:
        totals: Rows of ``queries.slot_raster.window_totals``, or of ``run_summary`` for whole runs.
    """
    return " ".join(_arm(row) for row in totals.to_pylist()) or "No run is chosen."


def level_words(kind: str, rounds_per_mark: int, by_cause: bool = True) -> str:
    """Say how far a timeline is thinned."""
    if kind == "cells":
        return "Level: one mark a row slot"
    if rounds_per_mark == 1:
        return "Level: one mark a class and round"
    words = f"Level: one mark a class and {units.number(rounds_per_mark)} rounds, mean weighted by duration"
    return words if by_cause else f"{words}; waits not told apart by cause"


def _arm(row: dict[str, Any]) -> str:
    rounds = units.counted(row["num_rounds"], "round")
    if row["num_rounds"] == 0:
        return f"{row['label']} has no round here."
    if row.get("sampled_fraction") is not None and row["avoidable_rows_per_round"] is not None:
        mean, share = units.number(row["avoidable_rows_per_round"]), units.fraction(row["bubble_round_fraction"])
        return (
            f"{row['label']} left {mean} rows a round unused although work was READY, in {share} of the rounds that it "
            "keeps."
        )
    if row["rows_avoidable"] is None:
        return f"{row['label']} ran without the probe: whether its unused rows were avoidable is {units.NOT_MEASURED}."
    if row["rows_avoidable"] == 0:
        return f"{row['label']} left no row unused while work was READY, in {rounds}."
    left = units.counted(row["rows_avoidable"], "row")
    bubbles = units.number(row["num_bubble_rounds"])
    return f"{row['label']} left {left} unused although work was READY, in {bubbles} of {rounds}."
