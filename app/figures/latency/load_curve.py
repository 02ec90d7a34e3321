"""Latency, throughput and fullness over the offered load, one line a policy and kind of stream."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import GUIDE, arm_style


class _Panel(NamedTuple):
    column: str
    title: str
    factor: float


_PANELS = (
    _Panel("p95_group_latency_ms", "95th percentile of group latency (ms)", 1),
    _Panel("completed_per_second", "Completed (requests/s)", 1),
    _Panel("row_fullness_fraction", "Row slots filled (%)", 100),
)
_SYMBOLS = {"cold": "circle", "mixed": "square", "reuse": "diamond"}
"""Regime to the symbol of its points."""


def load_curve(table: pa.Table) -> go.Figure:
    """Draw three panels over one axis of offered load; points of the same policy, regime and order are joined.

    Args:
        table: Rows of ``queries.sensitivity.load``.
    """
    rows = [row for row in table.to_pylist() if row["offered_per_second"] is not None]
    if not rows:
        return layout.empty_figure("The offered load is not known: no client of ours offered them, or all at once.")
    figure = make_subplots(rows=1, cols=len(_PANELS), horizontal_spacing=0.1)
    layout.style(figure, 400, legend={"y": 1.06})
    in_legend: set[str] = set()
    for column, panel in enumerate(_PANELS, start=1):
        for key in layout.distinct(_kind(row) for row in rows):
            own = [row for row in rows if _kind(row) == key and row[panel.column] is not None]
            if own:
                trace = _line(own, panel, own[0]["policy"] not in in_legend)
                in_legend.add(own[0]["policy"])
                figure.add_trace(trace, row=1, col=column)
        figure.update_xaxes(title_text="Offered load (requests/s)", rangemode="tozero", row=1, col=column)
        figure.update_yaxes(title_text=panel.title, rangemode="tozero", row=1, col=column)
    top = max(row["offered_per_second"] for row in rows)
    equal = go.Scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"color": GUIDE, "width": 1, "dash": "dash"},
        name="As many completed as offered",
        hoverinfo="skip",
    )
    figure.add_trace(equal, row=1, col=2)
    return figure


def _kind(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["policy"], row["regime"], row["input_order"]


def _line(rows: list[dict[str, Any]], panel: _Panel, in_legend: bool) -> go.Scatter:
    look, policy = arm_style(rows[0]["policy"]), layout.plain(rows[0]["policy"])
    return go.Scatter(
        x=[row["offered_per_second"] for row in rows],
        y=[panel.factor * row[panel.column] for row in rows],
        mode="lines+markers",
        name=policy,
        legendgroup=policy,
        showlegend=in_legend,
        line={"color": look.colour, "dash": look.dash, "width": 1.5},
        marker={"symbol": _SYMBOLS.get(rows[0]["regime"] or "", "cross"), "size": 9, "color": look.colour},
        hovertext=[_hover(row) for row in rows],
        hoverinfo="text",
    )


def _hover(row: dict[str, Any]) -> str:
    return "<br>".join(
        [
            f"<b>{layout.plain(row['policy'])}</b>, {layout.plain(row['stream'])}",
            f"{units.number(row['offered_per_second'])} requests/s offered, "
            f"{units.number(row['completed_per_second'])} completed",
            f"95th percentile of group latency {units.duration(row['p95_group_latency_ms'])}",
            f"{units.fraction(row['row_fullness_fraction'])} of the row slots filled",
            f"sender late by {units.duration(row['mean_lateness_ms'])} on average",
        ]
    )
