"""What single rounds cost against the tokens that they hold."""

import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.arm_rows import rows_by_arm


def round_costs(rounds: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw one point a round; its size says how many rows it held.

    Args:
        rounds: Rows of ``queries.costs.rounds``.
        runs: Rows of ``runs``.
    """
    if rounds.num_rows == 0:
        return layout.empty_figure("This clock measured no round.")
    figure = layout.new_figure(420)
    most = pc.max(rounds["rows_used"]).as_py() or 1
    for name, label, look, own in rows_by_arm(rounds, runs):
        figure.add_trace(
            go.Scatter(
                x=[row["tokens_scheduled"] for row in own],
                y=[row["cost_ms"] for row in own],
                mode="markers",
                name=label,
                marker={
                    "color": look.colour,
                    "symbol": look.symbol,
                    "opacity": 0.65,
                    "size": [5 + 13 * row["rows_used"] / most for row in own],
                },
                customdata=[[name, row["round"]] for row in own],
                hovertext=[
                    f"<b>Round {units.number(row['round'])}</b> of {label}<br>{units.duration(row['cost_ms'])} for "
                    f"{units.counted(row['rows_used'], 'row')} and {units.counted(row['tokens_scheduled'], 'token')}"
                    f"<br>{units.counted(row['num_reused_tokens'], 'token')} reused"
                    for row in own
                ],
                hoverinfo="text",
            )
        )
    figure.update_xaxes(title_text="Tokens scheduled in the round (tokens)", rangemode="tozero")
    figure.update_yaxes(title_text="Cost of the round (ms)", rangemode="tozero")
    return figure
