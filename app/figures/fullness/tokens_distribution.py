"""How many rounds used how much of their token budget, arm beside arm."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.arm_rows import rows_by_arm

_STEPS = 20
"""Levels that the view tells apart: twentieths of the budget."""


def tokens_distribution(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw the number of rounds by the twentieth of the token budget that they reached, as grouped bars.

    Args:
        table: Rows of ``queries.fullness.tokens_distribution``.
        runs: Rows of ``runs``.
    """
    if table.num_rows == 0:
        return layout.empty_figure("No round was recorded.")
    figure = layout.new_figure(320, barmode="group", bargap=0.25, bargroupgap=0.08)
    for _, label, look, own in rows_by_arm(table, runs):
        figure.add_trace(
            go.Bar(
                x=[100 * (row["filled_fraction"] + 0.5 / _STEPS) for row in own],
                y=[row["num_rounds"] for row in own],
                name=label,
                marker={"color": look.colour},
                hovertext=[
                    f"<b>{label}</b><br>{units.counted(row['num_rounds'], 'round')} with {_share(row['level'])}"
                    for row in own
                ],
                hoverinfo="text",
            )
        )
    figure.update_xaxes(
        title_text="Share of the token budget used (%)", range=[0, 100], showgrid=False, ticksuffix=" %"
    )
    figure.update_yaxes(title_text="Rounds (number)", rangemode="tozero")
    return figure


def _share(level: int) -> str:
    low, high = (units.fraction(end / _STEPS) for end in (level, level + 1))
    return f"{low} to {high} of the token budget"
