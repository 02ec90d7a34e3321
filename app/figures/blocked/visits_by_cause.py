"""BLOCKED visits by cause, arm beside arm."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import CAUSE_STYLES

NONE_BLOCKED = "No waiting request was blocked by its recurrent state. A full-attention model never is."


def visits_by_cause(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw BLOCKED visits of the scan itself by their two causes, which are never merged.

    Args:
        table: Rows of ``queries.blocked.visits_by_cause``.
        runs: Rows of ``runs``.
    """
    rows = [row for row in table.to_pylist() if row["witness"] == "native"]
    if not rows:
        return layout.empty_figure(NONE_BLOCKED, 200)
    labels = {run["run"]: layout.plain(run["label"]) for run in runs.to_pylist()}
    figure = layout.new_figure(
        118 + 46 * len(labels), barmode="stack", bargap=0.35, margin={"l": 16, "r": 16, "t": 52, "b": 48}
    )
    for cause, look in CAUSE_STYLES.items():
        own = {row["run"]: row for row in rows if row["cause"] == cause}
        if own:
            figure.add_trace(
                lying_bars(
                    look,
                    [labels[run] for run in labels],
                    [own[run]["num_visits"] if run in own else 0 for run in labels],
                    [
                        f"<b>{look.label}</b><br>{units.counted(own[run]['num_visits'], 'visit')} of "
                        f"{units.counted(own[run]['num_requests'], 'request')} in "
                        f"{units.counted(own[run]['num_rounds'], 'round')}"
                        if run in own
                        else ""
                        for run in labels
                    ],
                )
            )
    figure.update_xaxes(title_text="BLOCKED visits of the scan (visits)", rangemode="tozero")
    name_lines(figure)
    return figure
