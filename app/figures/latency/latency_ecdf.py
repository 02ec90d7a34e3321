"""The distribution of a latency, one line an arm."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.arm_rows import rows_by_arm


def latency_ecdf(table: pa.Table, runs: pa.Table, title: str) -> go.Figure:
    """Draw, for each arm, the cumulative distribution: the share of values up to the latency on the axis.

    Args:
        table: Rows of ``queries.latency.ecdf``.
        runs: Rows of ``runs``.
        title: What the latency is called.
    """
    if table.num_rows == 0:
        return layout.empty_figure("This latency was not measured in these runs.")
    figure = layout.new_figure(380)
    for _, label, look, own in rows_by_arm(table, runs):
        hovers = [
            f"<b>{label}</b><br>{units.fraction(row['within_fraction'])} within {units.duration(row['value_ms'])}"
            for row in own
        ]
        figure.add_trace(
            go.Scatter(
                x=[own[0]["value_ms"], *(row["value_ms"] for row in own)],
                y=[0.0, *(100 * row["within_fraction"] for row in own)],
                mode="lines",
                line={"color": look.colour, "width": 2, "dash": look.dash, "shape": "hv"},
                name=label,
                hovertext=["", *hovers],
                hoverinfo="text",
            )
        )
    figure.update_xaxes(title_text=f"{layout.plain(title)} (ms)", rangemode="tozero")
    figure.update_yaxes(title_text="Share that is at most so long (%)", range=[0, 101], ticksuffix=" %")
    return figure
