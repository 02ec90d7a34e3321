"""Waiting of each request against its execution."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures import layout
from radixflow.app.figures.palette import arm_style


def waiting_against_executing(parts: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw one point a branch: to the right it executed longer, upwards it waited longer. Refused ones are diamonds.

    Args:
        parts: Rows of ``queries.latency.parts``.
        runs: Rows of ``runs``.
    """
    rows = parts.to_pylist()
    if not rows:
        return layout.empty_figure("No branch of these runs completed.")
    figure = layout.new_figure(420)
    for arm in runs.to_pylist():
        own = [row for row in rows if row["run"] == arm["run"]]
        look, label = arm_style(arm["policy"]), layout.plain(arm["label"])
        if not own:
            continue
        figure.add_trace(
            go.Scatter(
                x=[row["executing_ms"] for row in own],
                y=[row["waiting_ms"] for row in own],
                mode="markers",
                name=label,
                marker={
                    "color": look.colour,
                    "symbol": ["diamond" if row["num_blocked_visits"] else look.symbol for row in own],
                    "size": 8,
                    "opacity": 0.7,
                },
                customdata=[[arm["label"], row["request_id"]] for row in own],
                hovertext=[
                    f"<b>{layout.plain(row['request_id'])}</b>, {label}"
                    f"<br>waits {units.duration(row['waiting_ms'])}, executes {units.duration(row['executing_ms'])}"
                    f"<br>{units.counted(row['num_blocked_visits'] or 0, 'BLOCKED visit')}"
                    for row in own
                ],
                hoverinfo="text",
            )
        )
    figure.update_xaxes(title_text="Executing, first selection to completion (ms)", rangemode="tozero")
    figure.update_yaxes(title_text="Waiting, registration to first selection (ms)", rangemode="tozero")
    return figure
