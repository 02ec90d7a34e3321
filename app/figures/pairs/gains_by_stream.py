"""What one policy gains on another, one line a stream: in rounds and in latency."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import GUIDE, arm_style

_PANELS = (
    ("rounds_saved_fraction", "Rounds saved (%)"),
    ("latency_saved_fraction", "Mean latency saved (%)"),
)


def gains_by_stream(table: pa.Table, policy_b: str) -> go.Figure:
    """Draw two panels side by side; to the right of the line the second policy is better.

    Args:
        table: Rows of ``queries.sensitivity.gains``.
        policy_b: The second policy, whose colour is used.
    """
    rows = table.to_pylist()
    if not rows:
        return layout.empty_figure("No two policies of this experiment were run over the same stream.")
    names = layout.distinct(_name(row) for row in rows)
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.05)
    layout.style(figure, 150 + 26 * len(names), margin={"l": 16, "r": 16, "t": 40, "b": 48}, showlegend=False)
    for column, (key, title) in enumerate(_PANELS, start=1):
        own = [row for row in rows if row[key] is not None]
        figure.add_trace(_stems(own, key), row=1, col=column)
        figure.add_trace(_marks(own, key, policy_b), row=1, col=column)
        figure.add_vline(x=0, line={"color": GUIDE, "width": 1}, row=1, col=column)
        figure.update_xaxes(title_text=title, ticksuffix=" %", row=1, col=column)
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=names,
        autorange="reversed",
        automargin=True,
        ticksuffix="  ",
        type="category",
    )
    return figure


def _name(row: dict[str, Any]) -> str:
    parts = [row["regime"], row["input_order"]]
    if row["arrival_rate"] is not None:
        parts.append(f"{units.number(row['arrival_rate'])} groups/s")
    known = [layout.plain(part) for part in parts if part is not None]
    return " · ".join(known) or layout.plain(row["stream"])


def _stems(rows: list[dict[str, Any]], key: str) -> go.Scatter:
    x: list[float | None] = []
    y: list[str | None] = []
    for row in rows:
        x += [0, 100 * row[key], None]
        y += [_name(row), _name(row), None]
    return go.Scatter(x=x, y=y, mode="lines", line={"color": GUIDE, "width": 2}, opacity=0.5, hoverinfo="skip")


def _marks(rows: list[dict[str, Any]], key: str, policy_b: str) -> go.Scatter:
    look = arm_style(policy_b)
    return go.Scatter(
        x=[100 * row[key] for row in rows],
        y=[_name(row) for row in rows],
        mode="markers",
        name=layout.plain(policy_b),
        marker={"color": look.colour, "symbol": look.symbol, "size": 11},
        hovertext=[
            f"<b>{layout.plain(row['stream'])}</b><br>{units.number(row['num_rounds_saved'])} rounds saved, "
            f"{units.fraction(row['rounds_saved_fraction'])}<br>mean latency: "
            f"{units.duration(row['mean_latency_saved_ms'])} saved, {units.fraction(row['latency_saved_fraction'])}"
            for row in rows
        ],
        hoverinfo="text",
    )
