"""What single rounds cost against the tokens that they hold."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures import layout
from radixflow.app.figures.palette import arm_style


def round_costs(rounds: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw one point a round; its size says how many rows it held.

    Args:
        rounds: Rows of ``queries.costs.rounds``.
        runs: Rows of ``runs``.
    """
    rows = rounds.to_pylist()
    if not rows:
        return layout.empty_figure("This clock measured no round.")
    figure = layout.new_figure(420)
    most = max(row["rows_used"] for row in rows) or 1
    for arm in runs.to_pylist():
        own = [row for row in rows if row["run"] == arm["run"]]
        look, label = arm_style(arm["policy"]), layout.plain(arm["label"])
        if not own:
            continue
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
                customdata=[[arm["label"], row["round"]] for row in own],
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
