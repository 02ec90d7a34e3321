"""The numbers of two arms side by side, with what the second one changes."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import streamlit as st

from radixflow.app import units
from radixflow.app.components.arm_choice import Pair
from radixflow.app.queries.definitions import Definitions


class PairedNumber(NamedTuple):
    """One number of two arms.

    Attributes:
        title: What it is called.
        column: Column of ``run_summary``.
        write: How a value is written.
        difference: Column of ``paired_summary`` with second minus first; None where the views give none.
        write_difference: How a difference is written, if not as a value.
    """

    title: str
    column: str
    write: Callable[[Any], str]
    difference: str | None = None
    write_difference: Callable[[Any], str] | None = None


PAIRED_NUMBERS = (
    PairedNumber("Rounds", "num_rounds", units.number, "rounds_difference"),
    PairedNumber("Rows a round", "rows_per_round", units.number, "rows_per_round_difference"),
    PairedNumber("Tokens a round", "tokens_per_round", units.number),
    PairedNumber("Row slots filled", "row_fullness_fraction", units.fraction),
    PairedNumber("Avoidable rows", "rows_avoidable", units.number, "rows_avoidable_difference"),
    PairedNumber("Rounds with a bubble", "num_bubble_rounds", units.number),
    PairedNumber("Mean latency", "mean_latency_ms", units.duration, "mean_latency_difference_ms"),
    PairedNumber("Median latency", "p50_latency_ms", units.duration),
    PairedNumber("95th percentile of latency", "p95_latency_ms", units.duration),
    PairedNumber("Mean latency of a request group", "mean_group_latency_ms", units.duration),
    PairedNumber("Mean duration of a round", "mean_round_ms", units.duration),
    PairedNumber("First round to last", "duration_ms", units.duration),
    PairedNumber("Tokens scheduled", "num_scheduled_tokens", units.number, "scheduled_tokens_difference"),
    PairedNumber("Prompt tokens reused", "num_reused_tokens", units.number, "reused_tokens_difference"),
    PairedNumber("BLOCKED visits", "num_blocked_visits", units.number),
    PairedNumber("Requests finished", "num_requests_finished", units.number),
)


def paired_rows(summary: pa.Table, pair: Pair, definitions: Definitions) -> list[dict[str, str]]:
    """Write the numbers of a pair, one row a number."""
    by_run = {row["run"]: row for row in summary.to_pylist()}
    first, second = by_run[pair.first["run"]], by_run[pair.second["run"]]
    return [
        {
            "number": each.title,
            str(first["label"]): each.write(first[each.column]),
            str(second["label"]): each.write(second[each.column]),
            "difference": _difference(each, pair.difference),
            "what it is": definitions.of("run_summary", each.column) or "",
        }
        for each in PAIRED_NUMBERS
    ]


def paired_table(summary: pa.Table, pair: Pair, definitions: Definitions) -> None:
    """Show the numbers of a pair in a table.

    Args:
        summary: Rows of ``run_summary``.
        pair: The pair.
        definitions: What each number means.
    """
    rows = paired_rows(summary, pair, definitions)
    st.dataframe(
        rows, hide_index=True, width="stretch", height="content", column_config={"what it is": {"width": "large"}}
    )


def _difference(each: PairedNumber, difference: dict[str, Any]) -> str:
    if each.difference is None:
        return ""
    return units.signed((each.write_difference or each.write)(difference[each.difference]))
