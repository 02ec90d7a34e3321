"""Which producers the most visits waited for."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import CAUSE_STYLES


def producers(table: pa.Table, run: int) -> go.Figure:
    """Draw, for one run, the producers by the visits that waited for them, split by cause; the hover names consumers.

    Args:
        table: Rows of ``queries.blocked.producers``.
        run: Index of the run.
    """
    rows = [row for row in table.to_pylist() if row["run"] == run]
    if not rows:
        return layout.empty_figure("Nobody waited for a producer in this run.", 200)
    names = layout.distinct(layout.plain(row["producer_request_id"]) for row in rows)
    figure = layout.new_figure(
        118 + 24 * len(names), barmode="stack", bargap=0.3, margin={"l": 16, "r": 16, "t": 44, "b": 48}
    )
    for cause, look in CAUSE_STYLES.items():
        own = [row for row in rows if row["cause"] == cause]
        if own:
            figure.add_trace(
                lying_bars(
                    look,
                    [layout.plain(row["producer_request_id"]) for row in own],
                    [row["num_visits"] for row in own],
                    [_hover(row, look.label) for row in own],
                )
            )
    figure.update_xaxes(title_text="Visits that waited for it (visits)", rangemode="tozero")
    name_lines(figure, names)
    return figure


def _hover(row: dict[str, Any], cause: str) -> str:
    consumers = row["consumers"]
    rest = row["num_consumers"] - len(consumers)
    lines = [
        f"<b>{layout.plain(row['producer_request_id'])}</b>",
        f"{cause}: {units.counted(row['num_visits'], 'visit')}, rounds {row['first_round']} to {row['last_round']}",
        "consumers:",
        *(f"  {layout.plain(name)}" for name in consumers),
    ]
    return "<br>".join([*lines, f"  and {rest} more"] if rest > 0 else lines)
