"""The five numbers that matter for each arm, with what changed against the first one."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import streamlit as st

from radixflow.app import units
from radixflow.app.components.shown.arm_name import show_arm
from radixflow.app.queries.definitions import Definitions


class _Card(NamedTuple):
    title: str
    column: str
    write: Callable[[Any], str]
    difference: str
    good: Literal["normal", "inverse", "off"]


CARDS = (
    _Card("Rounds", "num_rounds", units.number, "rounds_difference", "inverse"),
    _Card("Rows a round", "rows_per_round", units.number, "rows_per_round_difference", "normal"),
    _Card("Avoidable rows", "rows_avoidable", units.number, "rows_avoidable_difference", "inverse"),
    _Card("Mean latency", "mean_latency_ms", units.duration, "mean_latency_difference_ms", "inverse"),
    _Card("Prompt tokens reused", "reused_fraction", units.fraction, "reused_tokens_difference", "off"),
)


def number_cards(runs: pa.Table, summary: pa.Table, pairs: pa.Table, definitions: Definitions) -> None:
    """Show one row of cards an arm.

    Args:
        runs: Rows of ``runs``.
        summary: Rows of ``run_summary``.
        pairs: Rows of ``paired_summary``; the first run is what the others are compared with.
        definitions: What each number means, shown when hovering over it.
    """
    differences = {row["run_b"]: row for row in pairs.to_pylist() if row["run_a"] == 0}
    policies = {run["run"]: run["policy"] for run in runs.to_pylist()}
    for row in summary.to_pylist():
        show_arm(row["label"], policies[row["run"]])
        for place, card in zip(st.columns(len(CARDS)), CARDS, strict=True):
            with place:
                _show(card, row, differences.get(row["run"]), definitions)


def _show(card: _Card, row: dict[str, Any], pair: dict[str, Any] | None, definitions: Definitions) -> None:
    difference = pair.get(card.difference) if pair else None
    tokens = card.difference == "reused_tokens_difference"
    st.metric(
        card.title,
        card.write(row[card.column]),
        delta=None if difference is None else _delta(card, difference, tokens),
        delta_color=card.good if difference else "off",
        delta_arrow="auto" if difference else "off",
        help=definitions.of("run_summary", card.column),
        border=True,
    )


def _delta(card: _Card, difference: float, tokens: bool) -> str:
    if difference == 0:
        return "no difference"
    written = f"{units.number(difference)} tokens" if tokens else card.write(difference)
    return units.signed(written).replace("−", "-")  # the element reads an ASCII minus as its direction
