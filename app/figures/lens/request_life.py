"""One request over time: what the client saw, what each round found, and whom it waited for."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import name_lines
from radixflow.app.figures.style.palette import GUIDE, SLOT_STYLES, USED, group_shade, slot_marker, slot_style_key
from radixflow.app.sentences.reasons import refusal_words

_CLIENT, _SCHEDULER, _ROUNDS = "Client", "Scheduler", "Each round"


class LifeData(NamedTuple):
    """What one figure draws.

    Attributes:
        life: The row of ``queries.request_lens.life``.
        visits: Rows of ``queries.request_lens.visits``.
        rows: Rows of ``queries.request_lens.rows``.
        producer_rows: Rows of ``queries.request_lens.rows_of_producers``.
    """

    life: pa.Table
    visits: pa.Table
    rows: pa.Table
    producer_rows: pa.Table


def request_life(data: LifeData) -> go.Figure:
    """Draw lanes over one time axis: the request at the client and in the scheduler, its rounds, then its producers."""
    if data.life.num_rows == 0:
        return layout.empty_figure("There is no such request.", 160)
    (life,) = data.life.to_pylist()
    producers = layout.distinct(row["producer_request_id"] for row in data.producer_rows.to_pylist())
    lanes = [_CLIENT, _SCHEDULER, _ROUNDS, *(_producer_lane(name) for name in producers)]
    figure = layout.new_figure(
        132 + 34 * len(lanes), barmode="overlay", bargap=0.28, margin={"l": 16, "r": 16, "t": 48, "b": 48}
    )
    _add_client(figure, life)
    _add_phases(figure, life)
    _add_rounds(figure, data)
    _add_producers(figure, data.producer_rows)
    low, high = _extent(life, data)
    figure.update_xaxes(title_text="Time since the first round (ms)", range=[low, high])
    name_lines(figure, lanes)
    return figure


def _producer_lane(name: str | None) -> str:
    return f"waits for {layout.plain(name or 'a request')}"


def _extent(life: dict[str, Any], data: LifeData) -> tuple[float, float]:
    names = ("offered_ms", "sent_ms", "registered_ms", "first_selected_ms", "finished_ms", "completed_ms")
    times = [life[name] for name in names if life[name] is not None]
    times += [row["end_ms"] for row in [*data.visits.to_pylist(), *data.rows.to_pylist()] if row["end_ms"] is not None]
    low, high = min(times, default=0.0), max(times, default=1.0)
    margin = 0.02 * (high - low) or 1e-6
    return low - margin, high + margin


def _add_client(figure: go.Figure, life: dict[str, Any]) -> None:
    start, end = life["sent_ms"], life["completed_ms"]
    if start is not None and end is not None:
        hover = f"<b>At the client</b><br>sent to completed: {units.duration(end - start)}"
        look = {"color": "rgba(138,138,138,0.18)", "line": {"color": GUIDE, "width": 1}}
        figure.add_trace(_lane_bar(_CLIENT, [(start, end, hover)], "Sent to completed", look))
    marks = [
        (life["offered_ms"], "Offered", "line-ns-open"),
        (life["first_output_ms"], "First output", "triangle-down"),
    ]
    for at, name, symbol in marks:
        if at is not None:
            figure.add_trace(
                go.Scatter(
                    x=[at],
                    y=[_CLIENT],
                    mode="markers",
                    name=name,
                    marker={"symbol": symbol, "size": 12, "color": GUIDE, "line": {"width": 2, "color": GUIDE}},
                    hovertext=[f"<b>{name}</b>"],
                    hoverinfo="text",
                )
            )


def _add_phases(figure: go.Figure, life: dict[str, Any]) -> None:
    """Draw registration to release, to first selection, to the end, as far as each is known."""
    released = life["released_ms"] if life["released_ms"] is not None else life["first_selected_ms"]
    held, waiting = SLOT_STYLES["held"], {"color": "rgba(138,138,138,0.30)", "line": {"color": GUIDE, "width": 1}}
    phases = (
        ("Held by admission", life["registered_ms"], released, slot_marker(held)),
        ("Waiting", released, life["first_selected_ms"], waiting),
        ("From its first round to its end", life["first_selected_ms"], life["finished_ms"], {"color": USED}),
    )
    for name, start, end, look in phases:
        if start is not None and end is not None and end > start:
            hover = f"<b>{name}</b><br>{units.duration(end - start)}"
            figure.add_trace(_lane_bar(_SCHEDULER, [(start, end, hover)], name, look))


def _add_rounds(figure: go.Figure, data: LifeData) -> None:
    """Draw one bar a round: vermilion where it was READY behind a stop, blue where it was scheduled."""
    chosen: dict[str, list[dict[str, Any]]] = {}
    for visit in data.visits.to_pylist():
        chosen.setdefault(slot_style_key(visit["slot_class"], visit["cause"]), []).append(visit)
    chosen["used"] = data.rows.to_pylist()
    for style, look in SLOT_STYLES.items():
        own = [row for row in chosen.get(style, ()) if row["start_ms"] is not None]
        if own:
            parts = [(row["start_ms"], row["end_ms"], _round_hover(row)) for row in own]
            name = {"used": "Scheduled", "avoidable": "READY behind the stop"}.get(style, look.label)
            bar = _lane_bar(_ROUNDS, parts, name, slot_marker(look) | {"line": {"width": 0.5, "color": look.outline}})
            figure.add_trace(bar.update(customdata=[row["round"] for row in own]))


def _add_producers(figure: go.Figure, rows: pa.Table) -> None:
    first = True
    for row in rows.to_pylist():
        if row["start_ms"] is None:
            continue
        lines = [
            f"<b>{layout.plain(row['producer_request_id'] or 'a request')}</b>",
            f"round {units.number(row['round'])}, {units.counted(row['num_tokens'], 'token')}",
            "publishes a state" if row["published_state"] else "publishes no state",
        ]
        part = (row["start_ms"], row["end_ms"], "<br>".join(lines))
        look = {"color": group_shade(row["request_group"]), "line": {"width": 0.5, "color": USED}}
        bar = _lane_bar(_producer_lane(row["producer_request_id"]), [part], "Its producer runs", look)
        figure.add_trace(bar.update(customdata=[row["round"]], legendgroup="producer", showlegend=first))
        first = False


def _lane_bar(lane: str, parts: list[tuple[float, float, str]], name: str, marker: dict[str, Any]) -> go.Bar:
    return go.Bar(
        orientation="h",
        y=[lane] * len(parts),
        base=[start for start, _, _ in parts],
        x=[end - start for start, end, _ in parts],
        name=name,
        hovertext=[hover for _, _, hover in parts],
        hoverinfo="text",
        marker=marker,
    )


def _round_hover(row: dict[str, Any]) -> str:
    lines = [f"<b>Round {units.number(row['round'])}</b>, {units.duration(row['end_ms'] - row['start_ms'])}"]
    if "outcome" not in row:
        lines.append(f"{units.counted(row['num_tokens'], 'token')}, {units.number(row['num_reused_tokens'])} reused")
        return "<br>".join(lines)
    lines.append(layout.plain(refusal_words(row)))
    if row["witness"] == "probe":
        lines.append("found by the probe behind the stop of the scan")
    if row["matched_tokens"] is not None:
        ready = units.number(row["ready_tokens"])
        lines.append(f"{units.counted(row['matched_tokens'], 'token')} matched, {ready} ready")
    return "<br>".join(lines)
