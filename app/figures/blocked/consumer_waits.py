"""The requests that waited longest, each from registration to first selection, with every BLOCKED visit on the way."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import name_lines
from radixflow.app.figures.style.palette import CAUSE_STYLES, DEPENDENCY_WAIT, GUIDE, MARKED_AGAIN, USED

_MARKS = {"being_written": (DEPENDENCY_WAIT, "diamond"), "marked_again": (MARKED_AGAIN, "x")}
"""Cause to the colour and symbol of its marks: small, so in full colour."""


def consumer_waits(consumers: pa.Table, visits: pa.Table, run: int) -> go.Figure:
    """Draw one line a blocked request of one run, the longest wait on top.

    Args:
        consumers: Rows of ``queries.blocked.consumers``.
        visits: Rows of ``queries.blocked.visits_of_consumers``.
        run: Index of the run.
    """
    rows = [row for row in consumers.to_pylist() if row["run"] == run]
    if not rows:
        return layout.empty_figure("No request of this run was ever blocked.", 200)
    own_visits = [visit for visit in visits.to_pylist() if visit["run"] == run]
    end = max([visit["start_ms"] for visit in own_visits] + [row["first_selected_ms"] or 0.0 for row in rows])
    figure = layout.new_figure(120 + 20 * len(rows), margin={"l": 16, "r": 16, "t": 44, "b": 48})
    figure.add_trace(_lines(rows, end))
    for cause, look in CAUSE_STYLES.items():
        own = [visit for visit in own_visits if visit["cause"] == cause]
        if own:
            figure.add_trace(_visits(own, cause, look.label))
    selected = [row for row in rows if row["first_selected_ms"] is not None]
    figure.add_trace(_selections(selected))
    names = [layout.plain(row["request_id"]) for row in rows]
    figure.update_xaxes(title_text="Time since the first round (ms)")
    name_lines(figure, names)
    return figure


def _lines(rows: list[dict[str, Any]], end: float) -> go.Scatter:
    x: list[float | None] = []
    y: list[str | None] = []
    for row in rows:
        name = layout.plain(row["request_id"])
        x += [row["registered_ms"], row["first_selected_ms"] if row["first_selected_ms"] is not None else end, None]
        y += [name, name, None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"color": GUIDE, "width": 3}, opacity=0.45, name="Waits", hoverinfo="skip"
    )


def _visits(visits: list[dict[str, Any]], cause: str, name: str) -> go.Scatter:
    colour, symbol = _MARKS[cause]
    return go.Scatter(
        x=[visit["start_ms"] for visit in visits],
        y=[layout.plain(visit["request_id"]) for visit in visits],
        mode="markers",
        name=name,
        marker={
            "symbol": [symbol if visit["witness"] == "native" else f"{symbol}-open" for visit in visits],
            "color": colour,
            "size": 8,
            "line": {"width": 0.5, "color": GUIDE},
        },
        hovertext=[_visit_hover(visit, name) for visit in visits],
        hoverinfo="text",
    )


def _visit_hover(visit: dict[str, Any], name: str) -> str:
    lines = [f"<b>{layout.plain(visit['request_id'])}</b>", f"{name}, round {units.number(visit['round'])}"]
    if visit["witness"] == "probe":
        lines.append("found by the probe behind the stop of the scan")
    if visit["producer_request_id"]:
        lines.append(f"behind {layout.plain(visit['producer_request_id'])}")
    if visit["published_round"] is not None:
        lines.append(f"published in round {units.number(visit['published_round'])}")
    if visit["matched_tokens"] is not None:
        ready = units.number(visit["ready_tokens"])
        lines.append(f"{units.counted(visit['matched_tokens'], 'token')} matched, {ready} ready")
    return "<br>".join(lines)


def _selections(rows: list[dict[str, Any]]) -> go.Scatter:
    return go.Scatter(
        x=[row["first_selected_ms"] for row in rows],
        y=[layout.plain(row["request_id"]) for row in rows],
        mode="markers",
        name="First selected",
        marker={"color": USED, "symbol": "circle", "size": 8},
        hovertext=[
            f"<b>{layout.plain(row['request_id'])}</b><br>selected after {units.duration(row['waiting_ms'])}"
            f"<br>{units.counted(row['num_blocked_visits'], 'BLOCKED visit')}"
            for row in rows
        ],
        hoverinfo="text",
    )
