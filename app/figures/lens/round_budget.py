"""Where the rows and the tokens of one round went, against what it may hold."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import GUIDE, SLOT_STYLES, SlotStyle, slot_marker, slot_style_key

_LEFT = SlotStyle("Left of the budget", "rgba(0,0,0,0)", "rgba(138,138,138,0.6)", "")


class _Part(NamedTuple):
    style: str
    look: SlotStyle
    size: int


def round_budget(rounds: pa.Table, cells: pa.Table) -> go.Figure:
    """Draw the row slots of a round by class, and below them its tokens: scheduled, avoidable, left.

    Args:
        rounds: The row of ``queries.round_lens.one_round``.
        cells: Rows of ``queries.round_lens.cells``.
    """
    if rounds.num_rows == 0:
        return layout.empty_figure("There is no such round, so it has no budget.", 160)
    (row,) = rounds.to_pylist()
    figure = make_subplots(rows=2, cols=1, vertical_spacing=0.42)
    layout.style(
        figure, 250, barmode="stack", bargap=0.15, margin={"l": 70, "r": 24, "t": 40, "b": 44}, legend={"y": 1.08}
    )
    in_legend: set[str] = set()
    for place, (parts, noun) in enumerate(((_row_parts(cells), "row"), (_token_parts(row), "token")), start=1):
        for part in parts:
            figure.add_trace(_bar(part, noun, part.style not in in_legend), row=place, col=1)
            in_legend.add(part.style)
    figure.update_yaxes(showgrid=False, ticksuffix="  ")
    figure.update_xaxes(title_text="Row slots (rows)", range=[0, row["row_capacity"] or 1], row=1, col=1)
    figure.update_xaxes(title_text="Token budget (tokens)", range=[0, row["token_budget"] or 1], row=2, col=1)
    return figure


def _row_parts(cells: pa.Table) -> list[_Part]:
    parts = []
    for cell in cells.to_pylist():
        style = slot_style_key(cell["slot_class"], cell["cause"])
        parts.append(_Part(style, SLOT_STYLES[style], cell["num_slots"]))
    order = list(SLOT_STYLES)
    return sorted(parts, key=lambda part: order.index(part.style))


def _token_parts(row: dict[str, Any]) -> list[_Part]:
    left = max(0, (row["token_budget"] or 0) - row["tokens_scheduled"] - (row["tokens_avoidable"] or 0))
    parts = [
        _Part("used", SLOT_STYLES["used"], row["tokens_scheduled"]),
        _Part("avoidable", SLOT_STYLES["avoidable"], row["tokens_avoidable"] or 0),
        _Part("left", _LEFT, left),
    ]
    return [part for part in parts if part.size]


def _bar(part: _Part, noun: str, in_legend: bool) -> go.Bar:
    written = units.counted(part.size, noun)
    return go.Bar(
        orientation="h",
        y=["Rows" if noun == "row" else "Tokens"],
        x=[part.size],
        name=part.look.label,
        legendgroup=part.style,
        showlegend=in_legend and part.look is not _LEFT,
        text=[units.number(part.size)],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        # Plotly takes the contrast to a fill that is not there for that to white.
        insidetextfont={"color": GUIDE} if part.style in ("left", "no_work") else None,
        hovertext=[f"<b>{part.look.label}</b><br>{written}"],
        hoverinfo="text",
        marker=slot_marker(part.look),
    )
