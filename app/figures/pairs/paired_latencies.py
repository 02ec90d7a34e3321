"""Latency of each request under one arm against its latency under the other."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.pairs.paired_differences import NO_LATENCY
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import GUIDE, arm_style


def paired_latencies(table: pa.Table, run_a: dict[str, str], run_b: dict[str, str]) -> go.Figure:
    """Draw one point a request; below the diagonal the second arm was faster. Differing first tokens are crossed.

    Args:
        table: Rows of ``paired_requests`` of one pair.
        run_a: ``label`` and ``policy`` of the first arm.
        run_b: The same of the second arm.
    """
    rows = [row for row in table.to_pylist() if row["latency_difference_ms"] is not None]
    if not rows:
        return layout.empty_figure(NO_LATENCY)
    figure = layout.new_figure(420)
    top = 1.05 * max(max(row["latency_ms_a"], row["latency_ms_b"]) for row in rows)
    figure.add_trace(
        go.Scatter(
            x=[0, top],
            y=[0, top],
            mode="lines",
            line={"color": GUIDE, "width": 1, "dash": "dash"},
            hoverinfo="skip",
            name="Equal latency",
        )
    )
    for differs, name in ((False, "Same first token, or not known"), (True, "First tokens differ")):
        own = [row for row in rows if (row["first_token_agrees"] is False) == differs]
        if own:
            figure.add_trace(_points(own, differs, name, run_a, run_b))
    figure.update_xaxes(title_text=f"Latency with {layout.plain(run_a['label'])} (ms)", range=[0, top])
    figure.update_yaxes(title_text=f"Latency with {layout.plain(run_b['label'])} (ms)", range=[0, top])
    return figure


def _points(
    rows: list[dict[str, float]], differs: bool, name: str, run_a: dict[str, str], run_b: dict[str, str]
) -> go.Scatter:
    look = (
        {"color": GUIDE, "symbol": "x-thin-open", "size": 12, "line": {"width": 2}}
        if differs
        else {
            "color": arm_style(run_b["policy"]).colour,
            "symbol": "circle",
            "size": 6,
            "opacity": 0.7,
        }
    )
    return go.Scatter(
        x=[row["latency_ms_a"] for row in rows],
        y=[row["latency_ms_b"] for row in rows],
        mode="markers",
        name=name,
        marker=look,
        hovertext=[
            f"<b>{layout.plain(row['request_id'])}</b>"
            f"<br>{layout.plain(run_a['label'])}: {units.duration(row['latency_ms_a'])}"
            f"<br>{layout.plain(run_b['label'])}: {units.duration(row['latency_ms_b'])}"
            for row in rows
        ],
        hoverinfo="text",
    )
