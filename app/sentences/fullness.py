"""How full the rounds are, in a sentence."""

from typing import Any

import pyarrow as pa

from radixflow.app import units


def fullness_sentence(summary: pa.Table) -> str:
    """Say how many rows and tokens a round of each arm holds.

    Args:
        summary: Rows of ``run_summary``.
    """
    return " ".join(_arm(row) for row in summary.to_pylist())


def _arm(row: dict[str, Any]) -> str:
    if not row["num_rounds"]:
        return f"{row['label']} recorded no round."
    rows, tokens = units.number(row["rows_per_round"]), units.number(row["tokens_per_round"])
    return (
        f"{row['label']} fills {rows} rows and {tokens} tokens a round, {units.fraction(row['row_fullness_fraction'])} "
        f"of its row slots and {units.fraction(row['token_fullness_fraction'])} of its token budget, "
        f"over {units.counted(row['num_rounds'], 'round')}."
    )
