"""The time of one round: what the engine process and the workers did, and when."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import CLOCK_STYLES


def round_spans(spans: pa.Table) -> go.Figure:
    """Draw one line a component, process and clock; intervals overlap where they did.

    Args:
        spans: Rows of ``queries.round_lens.spans``.
    """
    rows = spans.to_pylist()
    if not rows:
        return layout.empty_figure("No interval of this round was recorded.", 160)
    names = layout.distinct(_name(row) for row in rows)
    figure = layout.new_figure(
        112 + 24 * len(names), barmode="overlay", bargap=0.3, margin={"l": 16, "r": 16, "t": 40, "b": 48}
    )
    for clock, look in CLOCK_STYLES.items():
        own = [row for row in rows if row["clock"] == clock]
        if own:
            figure.add_trace(
                lying_bars(
                    look,
                    [_name(row) for row in own],
                    [row["duration_ms"] for row in own],
                    [_hover(row, look.label) for row in own],
                    base=[row["after_round_start_ms"] for row in own],
                )
            )
    end = max(row["after_round_start_ms"] + row["duration_ms"] for row in rows)
    figure.add_trace(_durations(rows, end))
    figure.update_xaxes(title_text="Time since the start of the round (ms)", range=[0, 1.08 * end or 1])
    name_lines(figure, names)
    return figure


def _durations(rows: list[dict[str, Any]], end: float) -> go.Scatter:
    """Write each duration behind its bar, or on it where the bar is long; of several bars of one line their number."""
    of_line: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of_line.setdefault(_name(row), []).append(row)
    x, text, position = [], [], []
    for own in of_line.values():
        last = max(own, key=lambda row: row["after_round_start_ms"] + row["duration_ms"])
        inside = len(own) == 1 and last["duration_ms"] > end / 2
        x.append(last["after_round_start_ms"] + last["duration_ms"] / (2 if inside else 1))
        position.append("middle center" if inside else "middle right")
        text.append(units.duration(last["duration_ms"]) if len(own) == 1 else f"{units.number(len(own))} intervals")
    return go.Scatter(
        x=x,
        y=list(of_line),
        mode="text",
        text=[f"  {each}  " for each in text],
        textposition=position,
        textfont={"size": 12},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def _name(row: dict[str, Any]) -> str:
    place = "engine" if row["process_rank"] is None else f"worker {row['process_rank']}"
    device = ", device" if row["clock"] == "device" else ""
    return f"{layout.plain(row['component'])} ({place}{device})"


def _hover(row: dict[str, Any], clock: str) -> str:
    start = units.duration(row["after_round_start_ms"])
    return f"<b>{_name(row)}</b><br>{units.duration(row['duration_ms'])}<br>begins after {start}<br>{clock.lower()}"
