"""What ended the scan of the waiting queue, arm beside arm."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import name_lines
from radixflow.app.figures.style.palette import arm_style


def stop_reasons(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw the number of rounds by stop reason.

    Args:
        table: Rows of ``stop_reasons``.
        runs: Rows of ``runs``.
    """
    if table.num_rows == 0:
        return layout.empty_figure("No scan was recorded.")
    rows = table.to_pylist()
    totals: dict[str, int] = {}
    for row in rows:
        totals[row["stop_reason"]] = totals.get(row["stop_reason"], 0) + row["num_rounds_kept"]
    ranked = sorted(totals, key=lambda reason: -totals[reason])
    arms = runs.to_pylist()
    figure = layout.new_figure(
        110 + len(ranked) * (14 + 16 * len(arms)),
        barmode="group",
        bargap=0.3,
        bargroupgap=0.1,
        margin={"l": 16, "r": 16, "t": 44, "b": 48},
    )
    for arm in arms:
        own = {row["stop_reason"]: row for row in rows if row["run"] == arm["run"]}
        figure.add_trace(
            go.Bar(
                orientation="h",
                y=[words(reason) for reason in ranked],
                x=[own[reason]["num_rounds_kept"] if reason in own else 0 for reason in ranked],
                name=layout.plain(arm["label"]),
                marker={"color": arm_style(arm["policy"]).colour},
                hovertext=[_hover(arm, own.get(reason)) for reason in ranked],
                hoverinfo="text",
            )
        )
    figure.update_xaxes(title_text="Rounds (number)", rangemode="tozero")
    name_lines(figure)
    return figure


def _hover(arm: dict[str, Any], row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    avoidable = "" if row["rows_avoidable"] is None else f"<br>{units.counted(row['rows_avoidable'], 'avoidable row')}"
    rounds = units.counted(row["num_rounds_kept"], "round")
    return f"<b>{layout.plain(arm['label'])}</b><br>{rounds}: {words(row['stop_reason']).lower()}{avoidable}"


_WORDS = {
    "end_of_queue": "End of the queue",
    "blocked": "A blocked request",
    "token_budget": "Token budget",
    "row_capacity": "Row capacity",
    "kv_blocks": "KV blocks",
    "aligned_split_zero": "Aligned split of 0",
    "full_prompt_reservation": "Full-prompt reservation",
}


def words(reason: str) -> str:
    """Write a stop reason for a person."""
    return _WORDS.get(reason) or layout.plain(reason.replace("_", " ").capitalize())
