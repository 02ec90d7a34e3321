"""How long requests waited from registration to first selection, as a cumulative share, one line an arm."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.arm_rows import rows_by_arm


def waiting_times(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw, for each arm, the share of requests that had been selected after a time of waiting.

    Args:
        table: Rows of ``queries.latency.ecdf`` of the time from registration to first selection.
        runs: Rows of ``runs``.
    """
    if table.num_rows == 0:
        return layout.empty_figure("No request was selected, so no wait is known.")
    figure = layout.new_figure(300)
    for _, label, look, rows in rows_by_arm(table, runs):
        figure.add_trace(
            go.Scatter(
                x=[0.0] + [row["value_ms"] for row in rows],
                y=[0.0] + [100 * row["within_fraction"] for row in rows],
                mode="lines",
                line={"color": look.colour, "width": 2, "dash": look.dash, "shape": "hv"},
                name=label,
                hovertext=[""]
                + [
                    f"<b>{label}</b><br>{units.fraction(row['within_fraction'])} selected within "
                    f"{units.duration(row['value_ms'])}"
                    for row in rows
                ],
                hoverinfo="text",
            )
        )
    figure.update_xaxes(title_text="Waiting time (ms)", rangemode="tozero")
    figure.update_yaxes(title_text="Requests selected by then (%)", range=[0, 101], ticksuffix=" %")
    return figure
