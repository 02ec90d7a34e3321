"""The parts of the mean latency (sending, waiting, executing), one bar an arm."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import PHASE_STYLES

_PARTS = {"sending": "mean_sending_ms", "waiting": "mean_waiting_ms", "executing": "mean_executing_ms"}


def latency_split(split: pa.Table) -> go.Figure:
    """Draw the mean times of sending, waiting and executing, stacked; together they are the mean latency.

    Args:
        split: Rows of ``queries.latency.split``.
    """
    rows = split.to_pylist()
    if not rows:
        return layout.empty_figure("No branch of these runs completed, so no latency can be split.", 180)
    labels = [layout.plain(row["label"]) for row in rows]
    figure = layout.new_figure(
        118 + 46 * len(rows), barmode="stack", bargap=0.35, margin={"l": 16, "r": 16, "t": 52, "b": 48}
    )
    for phase, column in _PARTS.items():
        look = PHASE_STYLES[phase]
        figure.add_trace(
            lying_bars(
                look,
                labels,
                [row[column] for row in rows],
                [
                    f"<b>{look.label}</b><br>{units.duration(row[column])} of {units.duration(row['mean_latency_ms'])}"
                    f"<br>mean of {units.counted(row['num_requests'], 'branch', 'branches')}"
                    for row in rows
                ],
            )
        )
    figure.update_xaxes(title_text="Mean latency of a branch, sent to completed (ms)", rangemode="tozero")
    name_lines(figure)
    return figure
