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


def bound_sentence(bounds: pa.Table, summary: pa.Table) -> str:
    """Say how far each arm is from the least number of rounds that its capacity allows, or why that is not known.

    Args:
        bounds: Rows of ``queries.fullness.capacity_bound``.
        summary: Rows of ``run_summary``.
    """
    known = {row["run"]: row for row in bounds.to_pylist()}
    return " ".join(_bound(row, known.get(row["run"])) for row in summary.to_pylist())


def _bound(row: dict[str, Any], bound: dict[str, Any] | None) -> str:
    if bound is None or bound["least_rounds"] is None:
        return f"How few rounds could hold the work of {row['label']} is {units.NOT_MEASURED}: {_why_no_bound(row)}."
    times = units.number(bound["rounds_per_least_round"])
    return (
        f"The work of {row['label']} needs {units.counted(bound['num_rounds_for_rows'], 'round')} for its rows and "
        f"{units.number(bound['num_rounds_for_tokens'])} for its tokens, so no fewer than "
        f"{units.number(bound['least_rounds'])}; it took {units.number(bound['num_rounds'])}, "
        f"{'as few as that' if times == '1' else f'{times} times as many'}."
    )


def _why_no_bound(row: dict[str, Any]) -> str:
    if row["num_rounds"] is None:
        return "its engine was not observed"
    if row["sampled_fraction"] is not None:
        return "it keeps a sample of its rounds"
    return "it recorded no round" if not row["num_rounds"] else "its limits are not recorded"
