"""Waiting of each request against its execution."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.arm_rows import rows_by_arm


def waiting_against_executing(parts: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw one point a branch, executing time to the right and waiting time upwards; a diamond if it was ever BLOCKED.

    Args:
        parts: Rows of ``queries.latency.parts``.
        runs: Rows of ``runs``.
    """
    if parts.num_rows == 0:
        return layout.empty_figure("No branch of these runs completed.")
    figure = layout.new_figure(420)
    for name, label, look, own in rows_by_arm(parts, runs):
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
                customdata=[[name, row["request_id"]] for row in own],
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
