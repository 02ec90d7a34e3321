"""The paired latency differences of two arms, sorted: who gained and who paid."""

import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import GUIDE, arm_style

NO_LATENCY = "No request has a latency in both runs, so there is no difference to draw."


def paired_differences(table: pa.Table, run_a: dict[str, str], run_b: dict[str, str]) -> go.Figure:
    """Draw latency of the second arm minus that of the first for each request, largest gain first.

    Args:
        table: Rows of ``paired_requests`` of one pair.
        run_a: ``label`` and ``policy`` of the first arm, whose colour marks requests that it served faster.
        run_b: The same of the second arm.
    """
    rows = [row for row in table.to_pylist() if row["latency_difference_ms"] is not None]
    if not rows:
        return layout.empty_figure(NO_LATENCY)
    rows.sort(key=lambda row: row["latency_difference_ms"])
    figure = layout.new_figure(340, barmode="overlay", bargap=0)
    sides = (
        (run_b, [row["latency_difference_ms"] < 0 for row in rows]),
        (run_a, [row["latency_difference_ms"] >= 0 for row in rows]),
    )
    for arm, chosen in sides:
        positions = [position for position, inside in enumerate(chosen) if inside]
        figure.add_trace(
            go.Bar(
                x=[position + 1 for position in positions],
                y=[rows[position]["latency_difference_ms"] for position in positions],
                width=1,
                name=f"Faster with {layout.plain(arm['label'])} ({units.counted(len(positions), 'request')})",
                marker={"color": arm_style(arm["policy"]).colour, "line": {"width": 0}},
                hovertext=[_hover(rows[position], run_a["label"], run_b["label"]) for position in positions],
                hoverinfo="text",
            )
        )
    figure.add_hline(y=0, line={"color": GUIDE, "width": 1})
    figure.update_xaxes(title_text="Requests, sorted by difference (number)", showgrid=False)
    figure.update_yaxes(title_text="Latency difference (ms)")
    return figure


def _hover(row: dict[str, float], label_a: str, label_b: str) -> str:
    return (
        f"<b>{layout.plain(row['request_id'])}</b><br>{units.signed(units.duration(row['latency_difference_ms']))}"
        f"<br>{layout.plain(label_a)}: {units.duration(row['latency_ms_a'])}"
        f"<br>{layout.plain(label_b)}: {units.duration(row['latency_ms_b'])}"
    )
