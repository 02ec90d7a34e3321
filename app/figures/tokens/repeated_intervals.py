"""The prompt intervals that were computed again, each at its place in the prompt."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import REPEAT_STYLES


def repeated_intervals(table: pa.Table) -> go.Figure:
    """Draw one bar an interval, the longest on top.

    Args:
        table: Rows of ``queries.tokens.repeated`` of one run.
    """
    rows = table.to_pylist()
    if not rows:
        return layout.empty_figure("Nothing was seen to be computed twice in this run.", 160)
    names = layout.distinct(_name(row) for row in rows)
    figure = layout.new_figure(
        112 + 20 * len(names), barmode="overlay", bargap=0.3, margin={"l": 16, "r": 16, "t": 44, "b": 48}
    )
    for cause, look in REPEAT_STYLES.items():
        own = [row for row in rows if row["cause"] == cause]
        if own:
            figure.add_trace(
                lying_bars(
                    look,
                    [_name(row) for row in own],
                    [row["num_tokens"] for row in own],
                    [_hover(row, look.label) for row in own],
                    base=[row["begin_token"] for row in own],
                    customdata=[row["request_id"] for row in own],
                )
            )
    figure.update_xaxes(title_text="Position in the prompt (tokens)", rangemode="tozero")
    name_lines(figure, names)
    return figure


def _name(row: dict[str, Any]) -> str:
    return layout.plain(row["request_id"] or "a request")


def _hover(row: dict[str, Any], cause: str) -> str:
    lines = [
        f"<b>{_name(row)}</b>, round {units.number(row['round'])}",
        f"{cause}: {units.counted(row['num_tokens'], 'token')}",
        f"positions {units.number(row['begin_token'])} to {units.number(row['end_token'])}",
    ]
    if row["first_request_id"] and row["first_request_id"] != row["request_id"]:
        first = "" if row["first_round"] is None else f" in round {units.number(row['first_round'])}"
        lines.append(f"first computed by {layout.plain(row['first_request_id'])}{first}")
    return "<br>".join(lines)
