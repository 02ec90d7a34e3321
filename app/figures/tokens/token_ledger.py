"""Where the tokens of each arm came from: one stacked bar an arm."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import TOKEN_STYLES


def token_ledger(parts: pa.Table) -> go.Figure:
    """Draw prompt tokens reused and computed, then what was scheduled on top: computed again, and output.

    Args:
        parts: Rows of ``token_ledger_parts``.
    """
    rows = parts.to_pylist()
    if not any(row["num_tokens"] for row in rows):
        return layout.empty_figure("No request of these runs finished, so there is no token to account for.", 180)
    labels = layout.distinct(layout.plain(row["label"]) for row in rows)
    figure = layout.new_figure(
        118 + 46 * len(labels), barmode="relative", bargap=0.35, margin={"l": 16, "r": 16, "t": 52, "b": 48}
    )
    for part, look in TOKEN_STYLES.items():
        own = [row for row in rows if row["part"] == part and row["num_tokens"]]
        if own:
            figure.add_trace(
                lying_bars(
                    look,
                    [layout.plain(row["label"]) for row in own],
                    [row["num_tokens"] for row in own],
                    [
                        f"<b>{look.label}</b><br>{units.counted(row['num_tokens'], 'token')}"
                        f"<br>{units.fraction(row['prompt_fraction'])} of the prompt tokens"
                        for row in own
                    ],
                )
            )
    figure.update_xaxes(title_text="Tokens of finished requests (tokens)", tickformat=",")
    name_lines(figure, labels)
    return figure
