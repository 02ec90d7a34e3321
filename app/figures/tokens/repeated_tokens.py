"""Tokens that were computed again, by cause, one bar an arm."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import REPEAT_STYLES


def repeated_tokens(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw the tokens computed again by cause.

    Args:
        table: Rows of ``queries.tokens.repeated_by_cause``.
        runs: Rows of ``runs``.
    """
    rows = table.to_pylist()
    if not rows:
        return layout.empty_figure("Nothing was seen to be computed twice in these runs.", 160)
    labels = [layout.plain(run["label"]) for run in runs.to_pylist()]
    figure = layout.new_figure(
        118 + 46 * len(labels), barmode="stack", bargap=0.35, margin={"l": 16, "r": 16, "t": 52, "b": 48}
    )
    for cause, look in REPEAT_STYLES.items():
        own = {layout.plain(row["label"]): row for row in rows if row["cause"] == cause}
        if own:
            figure.add_trace(
                lying_bars(
                    look,
                    labels,
                    [own[label]["num_tokens"] if label in own else 0 for label in labels],
                    [
                        f"<b>{look.label}</b><br>{units.counted(own[label]['num_tokens'], 'token')} in "
                        f"{units.counted(own[label]['num_intervals'], 'interval')} of "
                        f"{units.counted(own[label]['num_requests'], 'request')}"
                        if label in own
                        else ""
                        for label in labels
                    ],
                )
            )
    figure.update_xaxes(title_text="Tokens computed again (tokens)", rangemode="tozero")
    name_lines(figure)
    return figure
