"""The execution-bubble timeline: every row slot of every round, so that coloured area is GPU time used or lost."""

from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import GUIDE, SLOT_STYLES, SlotStyle, arm_style, slot_marker
from radixflow.app.figures.timeline.slot_marks import Mark, cell_marks, sum_marks
from radixflow.app.figures.timeline.stall_bands import stall_traces
from radixflow.app.figures.timeline.timeline_selection import selection_traces
from radixflow.app.figures.timeline.timeline_tracks import TRACKS, lanes, limit_lines, span_traces, track_traces

_SLOT_PIXELS = 11
_RASTER_PIXELS = (120, 330)
_TRACK_PIXELS = 62
_LANE_PIXELS = 18
_GAP_PIXELS = 34
_TOP, _BOTTOM = 54, 48
_EMPTY = pa.table({"run": pa.array([], pa.int64())})


class TimelineData(NamedTuple):
    """What one timeline draws.

    Attributes:
        runs: Rows of ``runs``: the arms, from top to bottom.
        raster: Rows of ``slot_cells`` or of ``slot_sums``.
        tracks: Rows of ``round_tracks``.
        axis: ``time`` (ms since the first round of each run) or ``round``.
        low: Left end of the visible window.
        high: Right end of the visible window.
        level: How many rounds one drawn rectangle stands for, in words; shown in the corner.
        spans: Rows of ``queries.spans.spans``; only the axis of time shows them.
        arrows: Rows of ``queries.dependencies.arrows`` for what is selected.
        selected_run: Run in which a round is selected; None for every run.
        selected_round: Round that is selected.
        selected_request: Name of the request that is selected.
        stalls: Rows of ``queries.stalls.in_window``.
    """

    runs: pa.Table
    raster: pa.Table
    tracks: pa.Table
    axis: str
    low: float
    high: float
    level: str
    spans: pa.Table = _EMPTY
    arrows: pa.Table = _EMPTY
    selected_run: int | None = None
    selected_round: int | None = None
    selected_request: str | None = None
    stalls: pa.Table = _EMPTY


def bubble_timeline(data: TimelineData) -> go.Figure:
    """Draw the slot raster of each arm over one shared axis; below, tokens against budget, the queue, and spans.

    A mark carries run, first and last round as custom data: in one text, since Plotly looks at every value of a list.
    """
    return go.Figure(timeline_parts(data))


def timeline_parts(data: TimelineData) -> dict[str, Any]:
    """Make what :func:`bubble_timeline` draws, ``data`` and ``layout``, without Plotly's objects.

    Plotly looks at every value of a figure again and again while it grows; a step of a zoom has no time for that.
    """
    if not any(part.num_rows for part in (data.raster, data.tracks, data.stalls)):
        sentence = "No round lies in this window. Widen it, or record a run with work in it."
        empty: dict[str, Any] = layout.empty_figure(sentence, 360).to_plotly_json()
        return empty
    runs = data.runs.to_pylist()
    row_of = {run["run"]: row for row, run in enumerate(runs, start=1)}
    span_lanes = lanes(data.spans) if data.axis == "time" else {}
    frame = deepcopy(_frame(*_frame_key(runs, data.axis, span_lanes)))
    axes = frame["layout"]
    for name in axes:
        if name.startswith("xaxis"):
            axes[name]["range"] = [data.low, data.high]
    axes["annotations"].append(_level(data.level))
    traces = [*frame["data"], *_raster_traces(data, runs, row_of)]
    traces += [layout.on_row(band, row_of[run]) for run, band in stall_traces(data.stalls, runs, data.axis)]
    for row, track in enumerate(TRACKS, start=len(runs) + 1):
        traces += [layout.on_row(trace, row) for trace in track_traces(track, data.tracks.to_pylist(), runs, data.axis)]
        axes["shapes"] = [*axes.get("shapes", ()), *limit_lines(track, data.tracks, row)]
    for row, run in enumerate(span_lanes, start=len(runs) + len(TRACKS) + 1):
        traces += [layout.on_row(trace, row) for trace in span_traces(data.spans, run, span_lanes[run])]
    traces += selection_traces(row_of, data)
    return {"data": traces, "layout": axes}


def _frame_key(
    runs: list[dict[str, Any]], axis: str, span_lanes: dict[int, list[str]]
) -> tuple[tuple[tuple[int, str, str, int], ...], str, tuple[tuple[int, tuple[str, ...]], ...]]:
    arms = tuple((run["run"], run["label"], run["policy"], run["row_capacity"] or 1) for run in runs)
    return arms, axis, tuple((run, tuple(names)) for run, names in span_lanes.items())


@lru_cache(maxsize=16)
def _frame(
    arms: tuple[tuple[int, str, str, int], ...], axis: str, span_lanes: tuple[tuple[int, tuple[str, ...]], ...]
) -> dict[str, Any]:
    """Make the empty tracks: one raster an arm, then the tracks of rounds, then the spans of each arm that has any.

    A step of a zoom changes nothing in here.
    """
    heights = [_raster_pixels(capacity) for *_, capacity in arms] + [_TRACK_PIXELS] * len(TRACKS)
    heights += [_LANE_PIXELS * max(2, len(names)) for _, names in span_lanes]
    plot_height = sum(heights) + _GAP_PIXELS * (len(heights) - 1)
    figure = make_subplots(
        rows=len(heights), cols=1, shared_xaxes=True, vertical_spacing=_GAP_PIXELS / plot_height, row_heights=heights
    )
    layout.style(
        figure,
        plot_height + _TOP + _BOTTOM,
        margin={"l": 84, "r": 20, "t": _TOP, "b": _BOTTOM},
        barmode="overlay",
        legend={"y": 1 + 26 / plot_height, "traceorder": "normal"},
        dragmode="pan",
    )
    figure.update_xaxes(showgrid=False, exponentformat="none")
    title = "Time since the first round (ms)" if axis == "time" else "Round (number)"
    figure.update_xaxes(title_text=title, row=len(heights), col=1)
    for row, (_, label, policy, capacity) in enumerate(arms, start=1):
        _prepare_raster(figure, row, f"{_chip(policy)} <b>{layout.plain(label)}</b>", capacity)
    for row, track in enumerate(TRACKS, start=len(arms) + 1):
        _label_track(figure, row, track.title)
        figure.update_yaxes(title_text=track.axis, rangemode="tozero", fixedrange=True, nticks=3, row=row, col=1)
    chips = {run: f"{_chip(policy)} <b>Spans</b> of {layout.plain(label)}" for run, label, policy, _ in arms}
    for row, (run, names) in enumerate(span_lanes, start=len(arms) + len(TRACKS) + 1):
        _prepare_spans(figure, row, chips[run], names)
    frame: dict[str, Any] = figure.to_plotly_json()
    return frame


def _prepare_spans(figure: go.Figure, row: int, title: str, names: tuple[str, ...]) -> None:
    _label_track(figure, row, title)
    figure.update_yaxes(
        range=[len(names) - 0.5, -0.5],
        tickvals=list(range(len(names))),
        ticktext=[layout.plain(name) for name in names],
        fixedrange=True,
        showgrid=False,
        row=row,
        col=1,
    )


def _level(level: str) -> dict[str, Any]:
    return {
        "text": layout.plain(level),
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": 1,
        "xanchor": "right",
        "yanchor": "bottom",
        "yshift": 4,
        "showarrow": False,
        "font": {"size": 12, "color": GUIDE},
    }


def _prepare_raster(figure: go.Figure, row: int, title: str, capacity: int) -> None:
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
    _label_track(figure, row, title)


def _raster_pixels(capacity: int) -> int:
    low, high = _RASTER_PIXELS
    return min(high, max(low, _SLOT_PIXELS * capacity))


def _chip(policy: str) -> str:
    return f'<span style="color:{arm_style(policy).colour}">■</span>'


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


def _raster_traces(data: TimelineData, runs: list[dict[str, Any]], row_of: dict[int, int]) -> Iterator[dict[str, Any]]:
    """Make one trace a class and arm: a browser draws a few traces of many bars far faster than many traces."""
    is_coarse = "slot" not in data.raster.column_names
    chosen: dict[tuple[str, int], list[Mark]] = {}
    for mark in (sum_marks if is_coarse else cell_marks)(data.raster, data.axis):
        chosen.setdefault((mark.style, mark.run), []).append(mark)
    in_legend: set[str] = set()
    for style in SLOT_STYLES:
        for run in runs:
            marks = chosen.get((style, run["run"]))
            if marks:
                yield layout.on_row(_bars(style, marks, style not in in_legend, is_coarse), row_of[run["run"]])
                in_legend.add(style)


def _bars(style: str, marks: list[Mark], in_legend: bool, is_coarse: bool) -> dict[str, Any]:
    look = SLOT_STYLES[style]
    return {
        "type": "bar",
        "x": [mark.left + mark.width / 2 for mark in marks],
        "width": [mark.width for mark in marks],
        "base": [mark.base for mark in marks],
        "y": [mark.height for mark in marks],
        "hovertext": [mark.hover for mark in marks],
        "hoverinfo": "text",
        "customdata": [f"{mark.run} {mark.first_round} {mark.last_round}" for mark in marks],
        "name": look.label,
        "legendgroup": style,
        "showlegend": in_legend,
        "marker": slot_marker(look) | {"color": _colours(marks), "line": _outline(look, is_coarse)},
    }


def _colours(marks: list[Mark]) -> str | list[str]:
    """Give one colour where all marks share it: a hatch goes with one colour only, and the figure stays small."""
    colours = [mark.colour for mark in marks]
    return colours if len(set(colours)) > 1 else colours[0]


def _outline(look: SlotStyle, is_coarse: bool) -> dict[str, Any]:
    """Outline single cells of a hatched class; outlines of bars a few pixels wide would drown their fill."""
    return {"width": 0.7 if look.hatch and not is_coarse else 0, "color": look.outline}
