"""The execution-bubble timeline: every row slot of every round, so that coloured area is GPU time used or lost."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

from radixflow.app import units
from radixflow.app.figures import layout
from radixflow.app.figures.palette import GUIDE, SLOT_STYLES, SlotStyle, arm_style, slot_marker
from radixflow.app.figures.slot_marks import Mark, cell_marks, sum_marks

_SLOT_PIXELS = 11
_RASTER_PIXELS = (120, 330)
_TRACK_PIXELS = 62
_GAP_PIXELS = 34
_TOP, _BOTTOM = 54, 48


class TimelineData(NamedTuple):
    """What one timeline draws.

    Attributes:
        runs: Rows of ``runs``: the arms, from top to bottom.
        raster: Rows of ``slot_cells`` or of ``slot_sums``.
        tracks: Rows of ``round_tracks``.
        axis: ``time`` (ms since the first round of each run) or ``round``.
        low: Left end of the visible window.
        high: Right end of the visible window.
        level: How far the raster is thinned, in words, for the corner.
    """

    runs: pa.Table
    raster: pa.Table
    tracks: pa.Table
    axis: str
    low: float
    high: float
    level: str


def bubble_timeline(data: TimelineData) -> go.Figure:
    """Draw the slot raster of each arm over one shared axis, with tokens against budget and the waiting queue below."""
    if data.raster.num_rows == 0 and data.tracks.num_rows == 0:
        return layout.empty_figure("No round lies in this window. Widen it, or record a run with work in it.", 360)
    runs = data.runs.to_pylist()
    is_coarse = "slot" not in data.raster.column_names
    marks = (sum_marks if is_coarse else cell_marks)(data.raster, data.axis)
    figure = _frame(runs, data)
    for trace, row in _raster_traces(marks, runs, is_coarse):
        figure.add_trace(trace, row=row, col=1)
    _add_tracks(figure, data, runs)
    return figure


def _frame(runs: list[dict[str, Any]], data: TimelineData) -> go.Figure:
    """Make the empty tracks: one raster an arm, then tokens, then the queue."""
    heights = [_raster_pixels(run) for run in runs] + [_TRACK_PIXELS, _TRACK_PIXELS]
    plot_height = sum(heights) + _GAP_PIXELS * (len(heights) - 1)
    figure = make_subplots(
        rows=len(heights), cols=1, shared_xaxes=True, vertical_spacing=_GAP_PIXELS / plot_height, row_heights=heights
    )
    layout.style(
        figure,
        plot_height + _TOP + _BOTTOM,
        margin={"l": 64, "r": 20, "t": _TOP, "b": _BOTTOM},
        barmode="overlay",
        legend={"y": 1 + 26 / plot_height, "traceorder": "normal"},
        dragmode="pan",
    )
    figure.update_xaxes(range=[data.low, data.high], showgrid=False, exponentformat="none")
    title = "Time since the first round (ms)" if data.axis == "time" else "Round (number)"
    figure.update_xaxes(title_text=title, row=len(heights), col=1)
    for row, run in enumerate(runs, start=1):
        _prepare_raster(figure, row, run)
    _label_track(figure, len(runs) + 1, "<b>Tokens a round</b> against the budget (dashed)")
    _label_track(figure, len(runs) + 2, "<b>Waiting requests</b> when the scan began")
    figure.update_yaxes(title_text="Tokens", rangemode="tozero", fixedrange=True, nticks=3, row=len(runs) + 1, col=1)
    figure.update_yaxes(title_text="Requests", rangemode="tozero", fixedrange=True, nticks=3, row=len(runs) + 2, col=1)
    figure.add_annotation(
        text=layout.plain(data.level),
        xref="paper",
        yref="paper",
        x=1,
        y=1,
        xanchor="right",
        yanchor="bottom",
        yshift=4,
        showarrow=False,
        font={"size": 12, "color": GUIDE},
    )
    return figure


def _prepare_raster(figure: go.Figure, row: int, run: dict[str, Any]) -> None:
    capacity = run["row_capacity"] or 1
    figure.update_yaxes(
        range=[0, capacity],
        dtick=-(-capacity // 4),
        title_text="Row slot (rows)",
        fixedrange=True,
        showgrid=False,
        row=row,
        col=1,
    )
    # Without any trace Plotly leaves an axis out, and the label of an arm without rounds would hang in another raster.
    figure.add_trace(go.Scatter(x=[None], y=[None], showlegend=False, hoverinfo="skip"), row=row, col=1)
    _label_track(figure, row, f"{_chip(run)} <b>{layout.plain(run['label'])}</b>")


def _raster_pixels(run: dict[str, Any]) -> int:
    low, high = _RASTER_PIXELS
    return min(high, max(low, _SLOT_PIXELS * (run["row_capacity"] or 1)))


def _chip(run: dict[str, Any]) -> str:
    return f'<span style="color:{arm_style(run["policy"]).colour}">■</span>'


def _label_track(figure: go.Figure, row: int, text: str) -> None:
    axis = "y" if row == 1 else f"y{row}"
    figure.add_annotation(
        text=text,
        xref="paper",
        yref=f"{axis} domain",
        x=0,
        y=1,
        xanchor="left",
        yanchor="bottom",
        yshift=4,
        showarrow=False,
        font={"size": 13},
    )


def _raster_traces(marks: list[Mark], runs: list[dict[str, Any]], is_coarse: bool) -> list[tuple[go.Bar, int]]:
    """Make one trace a class and arm: a browser draws a few traces of many bars far faster than many traces."""
    row_of = {run["run"]: row for row, run in enumerate(runs, start=1)}
    chosen: dict[tuple[str, int], list[Mark]] = {}
    for mark in marks:
        chosen.setdefault((mark.style, mark.run), []).append(mark)
    traces: list[tuple[go.Bar, int]] = []
    in_legend: set[str] = set()
    for style in SLOT_STYLES:
        for run in row_of:
            if (style, run) in chosen:
                traces.append((_bars(style, chosen[style, run], style not in in_legend, is_coarse), row_of[run]))
                in_legend.add(style)
    return traces


def _bars(style: str, marks: list[Mark], in_legend: bool, is_coarse: bool) -> go.Bar:
    look = SLOT_STYLES[style]
    return go.Bar(
        x=[mark.left + mark.width / 2 for mark in marks],
        width=[mark.width for mark in marks],
        base=[mark.base for mark in marks],
        y=[mark.height for mark in marks],
        hovertext=[mark.hover for mark in marks],
        hoverinfo="text",
        name=look.label,
        legendgroup=style,
        showlegend=in_legend,
        marker=slot_marker(look) | {"color": _colours(marks), "line": _outline(look, is_coarse)},
    )


def _colours(marks: list[Mark]) -> str | list[str]:
    """Give one colour where all marks share it: a hatch goes with one colour only, and the figure stays small."""
    colours = [mark.colour for mark in marks]
    return colours if len(set(colours)) > 1 else colours[0]


def _outline(look: SlotStyle, is_coarse: bool) -> dict[str, Any]:
    """Outline single cells of a hatched class; outlines of bars a few pixels wide would drown their fill."""
    return {"width": 0.7 if look.hatch and not is_coarse else 0, "color": look.outline}


def _add_tracks(figure: go.Figure, data: TimelineData, runs: list[dict[str, Any]]) -> None:
    rows = data.tracks.to_pylist()
    for run in runs:
        own = [row for row in rows if row["run"] == run["run"]]
        if own:
            figure.add_trace(_steps(own, run, "tokens_scheduled", "tokens", data.axis), row=len(runs) + 1, col=1)
            figure.add_trace(
                _steps(own, run, "num_waiting_before", "waiting requests", data.axis), row=len(runs) + 2, col=1
            )
    for budget in layout.distinct(row["token_budget"] for row in rows if row["token_budget"]):
        figure.add_hline(y=budget, line={"color": GUIDE, "width": 1, "dash": "dash"}, row=len(runs) + 1, col=1)


def _steps(rows: list[dict[str, Any]], run: dict[str, Any], column: str, noun: str, axis: str) -> go.Scatter:
    """Draw a value that holds from the start to the end of each round."""
    look = arm_style(run["policy"])
    x: list[float] = []
    for row in rows:
        x += [row["start_ms"], row["end_ms"]] if axis == "time" else [row["first_round"] - 0.5, row["last_round"] + 0.5]
    values = [row[column] for row in rows for _ in range(2)]
    hover = [
        f"<b>{layout.plain(run['label'])}</b><br>{units.number(row[column])} {noun}"
        f"<br>round {units.number(row['first_round'])}"
        for row in rows
        for _ in range(2)
    ]
    return go.Scatter(
        x=x,
        y=values,
        mode="lines",
        line={"color": look.colour, "width": 1.5, "dash": look.dash, "shape": "hv"},
        hovertext=hover,
        hoverinfo="text",
        name=run["label"],
        legendgroup="tracks",
        showlegend=False,
    )
