"""Who waited for whom: requests as nodes, an arrow from each producer to the consumers of its state."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import CAUSE_STYLES, GUIDE, USED

_DEEPEST = 24
"""Most steps of a chain of producers that get a column each; longer chains share the last column."""

_ASIDE = {"being_written": -0.12, "marked_again": 0.12}
"""How far an arrow's end is moved for its cause, as a share of a line: one pair may have arrows of both causes."""


class _Edge(NamedTuple):
    producer: str
    consumer: str
    cause: str


def dependency_graph(producers: pa.Table, run: int) -> go.Figure:
    """Draw the producers that most visits waited for, and their consumers to the right of them.

    A consumer that published a state itself is a producer in turn, so chains read from left to right.

    Args:
        producers: Rows of ``queries.blocked.producers``.
        run: Index of the run.
    """
    rows = [row for row in producers.to_pylist() if row["run"] == run and row["producer_request_id"]]
    edges = [
        _Edge(row["producer_request_id"], name, row["cause"]) for row in rows for name in row["consumers"] or () if name
    ]
    if not edges:
        return layout.empty_figure("Nobody waited for a producer in this run.", 200)
    places = _places(edges)
    figure = layout.new_figure(
        96 + 17 * round(max(y for _, y in places.values()) + 1), margin={"l": 16, "r": 16, "t": 44, "b": 16}
    )
    for cause, look in CAUSE_STYLES.items():
        own = [edge for edge in edges if edge.cause == cause]
        if own:
            figure.add_trace(
                _arrows(own, places, look.outline, look.label, "solid" if cause == "being_written" else "dot")
            )
    figure.add_trace(_nodes(places, rows))
    depth = max(x for x, _ in places.values())
    figure.update_xaxes(visible=False, range=[-0.5, depth + 0.6])
    figure.update_yaxes(visible=False, autorange="reversed")
    return figure


def _places(edges: list[_Edge]) -> dict[str, tuple[int, float]]:
    """Give each request a column by the length of its chain, and a line beside those that wait for it."""
    depths = dict.fromkeys([edge.producer for edge in edges] + [edge.consumer for edge in edges], 0)
    for _ in range(_DEEPEST):
        for edge in edges:
            depths[edge.consumer] = max(depths[edge.consumer], min(depths[edge.producer] + 1, _DEEPEST))
    after: dict[str, list[str]] = {}
    for edge in edges:
        if depths[edge.consumer] > depths[edge.producer]:
            after.setdefault(edge.producer, []).append(edge.consumer)
    lines: dict[str, float] = {}
    for name in sorted(depths, key=lambda each: depths[each]):
        _line(name, after, lines, [float(len(lines))])
    return {name: (depths[name], lines[name]) for name in depths}


def _line(name: str, after: dict[str, list[str]], lines: dict[str, float], free: list[float]) -> None:
    """Place a request on the mean line of what waits for it, and what waits for it on the next free lines."""
    if name in lines:
        return
    own = [each for each in layout.distinct(after.get(name, ())) if each not in lines]
    lines[name] = free[0]
    for each in own:
        _line(each, after, lines, free)
    if own:
        lines[name] = sum(lines[each] for each in own) / len(own)
    else:
        free[0] += 1


def _arrows(edges: list[_Edge], places: dict[str, tuple[int, float]], colour: str, name: str, dash: str) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    for edge in edges:
        (from_x, from_y), (to_x, to_y) = places[edge.producer], places[edge.consumer]
        x += [from_x, to_x, None]
        y += [from_y, to_y + _ASIDE[edge.cause], None]
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers",
        name=name,
        line={"color": colour, "width": 1.5, "dash": dash},
        marker={
            "symbol": "arrow",
            "angleref": "previous",
            "standoff": 7,
            "size": [0, 9, 0] * len(edges),
            "color": colour,
            "opacity": 1,
        },
        hoverinfo="skip",
    )


def _nodes(places: dict[str, tuple[int, float]], rows: list[dict[str, Any]]) -> go.Scatter:
    produced: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        produced.setdefault(row["producer_request_id"], []).append(row)
    names = list(places)
    return go.Scatter(
        x=[places[name][0] for name in names],
        y=[places[name][1] for name in names],
        mode="markers+text",
        name="Request",
        text=[f"  {layout.plain(name)}  " for name in names],
        textposition=[_beside(places[name][0], name in produced) for name in names],
        textfont={"size": 11},
        marker={
            "size": [11 if name in produced else 8 for name in names],
            "color": [USED if name in produced else "rgba(138,138,138,0.6)" for name in names],
            "line": {"width": 1, "color": GUIDE},
        },
        cliponaxis=False,
        customdata=names,
        hovertext=[_hover(name, produced.get(name, ())) for name in names],
        hoverinfo="text",
    )


def _beside(depth: int, is_producer: bool) -> str:
    """Keep the name of a request off the arrows that leave it."""
    if not is_producer:
        return "middle right"
    return "middle left" if depth == 0 else "top center"


def _hover(name: str, rows: Any) -> str:
    lines = [f"<b>{layout.plain(name)}</b>"]
    for row in rows:
        drawn = len(row["consumers"] or ())
        rest = "" if row["num_consumers"] <= drawn else f", {drawn} of them drawn"
        lines.append(
            f"{CAUSE_STYLES[row['cause']].label}: {units.counted(row['num_visits'], 'visit')} of "
            f"{units.counted(row['num_consumers'], 'request')}{rest}"
        )
    return "<br>".join(lines) if rows else f"{lines[0]}<br>waits, and nobody waits for it"
