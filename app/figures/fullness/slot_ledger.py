"""Where the row slots of a whole run went: one stacked bar an arm."""

from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.bars import lying_bars, name_lines
from radixflow.app.figures.style.palette import SLOT_STYLES, slot_style_key


def slot_ledger(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw the share of row slots by class; the classes of a run add up to all of its slots.

    Args:
        table: Rows of ``queries.fullness.slot_totals``.
        runs: Rows of ``runs``.
    """
    if table.num_rows == 0:
        return layout.empty_figure("No round was recorded, so there is no slot to account for.", 180)
    labels = {run["run"]: layout.plain(run["label"]) for run in runs.to_pylist()}
    rows = table.to_pylist()
    figure = layout.new_figure(
        118 + 46 * len(labels),
        barmode="stack",
        bargap=0.35,
        margin={"l": 16, "r": 16, "t": 52, "b": 48},
        legend={"traceorder": "normal"},
    )
    for slot_class in SLOT_STYLES:
        own = [row for row in rows if slot_style_key(row["slot_class"], row["cause"]) == slot_class]
        if any(row["num_slots"] for row in own):
            figure.add_trace(_bar(slot_class, own, labels))
    figure.update_xaxes(title_text="Share of all row slots (%)", range=[0, 100.3], ticksuffix=" %")
    name_lines(figure)
    return figure


def _bar(slot_class: str, rows: list[dict[str, Any]], labels: dict[int, str]) -> go.Bar:
    look = SLOT_STYLES[slot_class]
    return lying_bars(
        look,
        [labels[row["run"]] for row in rows],
        [100 * (row["slot_fraction"] or 0) for row in rows],
        [
            f"<b>{look.label}</b><br>{units.counted(row['num_slots'], 'row slot')}, "
            f"{units.fraction(row['slot_fraction'])}"
            for row in rows
        ],
    )
