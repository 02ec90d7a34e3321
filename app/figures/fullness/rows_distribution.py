"""How many rounds used how many rows, one line an arm."""

import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.arm_rows import rows_by_arm


def rows_distribution(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw the number of rounds by rows used, as grouped bars over the whole capacity.

    Args:
        table: Rows of ``queries.fullness.rows_distribution``.
        runs: Rows of ``runs``.
    """
    if table.num_rows == 0:
        return layout.empty_figure("No round was recorded.")
    figure = layout.new_figure(320, barmode="group", bargap=0.25, bargroupgap=0.08)
    for _, label, look, own in rows_by_arm(table, runs):
        figure.add_trace(
            go.Bar(
                x=[row["rows_used"] for row in own],
                y=[row["num_rounds"] for row in own],
                name=label,
                marker={"color": look.colour},
                hovertext=[
                    f"<b>{label}</b><br>{units.counted(row['num_rounds'], 'round')} "
                    f"with {units.counted(row['rows_used'], 'row')}"
                    for row in own
                ],
                hoverinfo="text",
            )
        )
    capacity = pc.max(table["row_capacity"]).as_py()
    figure.update_xaxes(title_text="Rows used in a round (rows)", range=[-0.5, capacity + 0.5], showgrid=False)
    figure.update_yaxes(title_text="Rounds (number)", rangemode="tozero")
    return figure
