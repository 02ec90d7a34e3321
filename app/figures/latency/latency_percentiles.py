"""Percentiles of a latency, arm beside arm."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import GUIDE, arm_style

_LINES = {
    "mean_ms": "Mean",
    "p50_ms": "Median",
    "p90_ms": "90th percentile",
    "p95_ms": "95th percentile",
    "p99_ms": "99th percentile",
    "longest_ms": "Longest",
}


def latency_percentiles(summary: pa.Table, runs: pa.Table, title: str) -> go.Figure:
    """Draw one mark an arm on each of the lines mean, median, percentiles and longest.

    Args:
        summary: Rows of ``queries.latency.summary``.
        runs: Rows of ``runs``.
        title: What the latency is called.
    """
    rows = {row["run"]: row for row in summary.to_pylist() if row["num_values"]}
    if not rows:
        return layout.empty_figure("This latency was not measured in these runs.")
    figure = layout.new_figure(380)
    figure.add_trace(_spans(list(rows.values())))
    for arm in runs.to_pylist():
        if arm["run"] in rows:
            figure.add_trace(_marks(arm, rows[arm["run"]]))
    figure.update_xaxes(title_text=f"{layout.plain(title)} (ms)", rangemode="tozero")
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=list(_LINES.values()),
        autorange="reversed",
        showgrid=False,
        automargin=True,
    )
    return figure


def _spans(rows: list[dict[str, Any]]) -> go.Scatter:
    """Join the marks of one line, so that its difference can be seen as a length."""
    x: list[float | None] = []
    y: list[str | None] = []
    for column, name in _LINES.items():
        values = [row[column] for row in rows]
        x += [min(values), max(values), None]
        y += [name, name, None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": GUIDE, "width": 2}, opacity=0.4, hoverinfo="skip", showlegend=False
    )


def _marks(arm: dict[str, Any], row: dict[str, Any]) -> go.Scatter:
    look, label = arm_style(arm["policy"]), layout.plain(arm["label"])
    return go.Scatter(
        x=[row[column] for column in _LINES],
        y=list(_LINES.values()),
        mode="markers",
        name=label,
        marker={"color": look.colour, "symbol": look.symbol, "size": 11},
        hovertext=[f"<b>{label}</b><br>{name}: {units.duration(row[column])}" for column, name in _LINES.items()],
        hoverinfo="text",
    )
