"""From the cost of one arm to that of the other: eliminated rounds, dearer rounds, net; one panel a clock."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import COST_STYLES, GUIDE, SlotStyle, arm_style, slot_marker


class _Step(NamedTuple):
    """One bar of a panel.

    Attributes:
        name: What it is called below the axis.
        change_ms: Height, negative for a saving; of the first and last bar the total.
        is_total: Whether it stands on zero.
        meaning: What it is, for the hover.
    """

    name: str
    change_ms: float
    is_total: bool
    meaning: str


def cost_waterfall(shifts: pa.Table, run_a: dict[str, Any], run_b: dict[str, Any], clocks: dict[str, str]) -> go.Figure:
    """Draw the total of the first arm, every step from it, and the total of the second arm.

    Args:
        shifts: Rows of ``queries.costs.shifts``.
        run_a: ``label`` and ``policy`` of the first arm.
        run_b: The same of the second arm.
        clocks: Clock to its name.
    """
    rows = shifts.to_pylist()
    if not rows:
        return layout.empty_figure("No clock measured both runs, so their costs cannot be compared.")
    titles = [f"<b>{clocks[row['clock']]}</b>" for row in rows]
    figure = make_subplots(rows=1, cols=len(rows), subplot_titles=titles, horizontal_spacing=0.07)
    layout.style(
        figure, 430, barmode="overlay", bargap=0.3, margin={"l": 64, "r": 16, "t": 84, "b": 64}, legend={"y": 1.14}
    )
    in_legend: set[str] = set()
    for column, row in enumerate(rows, start=1):
        _add_panel(figure, column, _steps(row, run_a, run_b), (run_a, run_b), in_legend)
        figure.update_yaxes(
            title_text="Cost of all rounds (ms)" if column == 1 else None, rangemode="tozero", col=column
        )
    figure.update_xaxes(showgrid=False, tickangle=0)
    return figure


def _steps(row: dict[str, Any], run_a: dict[str, Any], run_b: dict[str, Any]) -> list[_Step]:
    label_a, label_b = layout.plain(run_a["label"]), layout.plain(run_b["label"])
    rounds = (
        f"{units.number(abs(row['num_rounds_eliminated']))} {'fewer' if row['num_rounds_eliminated'] >= 0 else 'more'}"
    )
    steps = [
        _Step(label_a, row["total_ms_a"], True, f"{units.counted(row['num_rounds_a'], 'round')} of {label_a}"),
        _Step(f"{rounds}<br>rounds", -row["gross_credit_ms"], False, f"at the mean cost of a round of {label_a}"),
    ]
    if row["shape_cost_ms"] is None:
        steps.append(_Step("Cost of<br>a round", row["retained_cost_ms"], False, "what the remaining rounds cost more"))
    else:
        steps += [
            _Step("Shape of<br>batches", row["shape_cost_ms"], False, "what rows, tokens, reuse and attention explain"),
            _Step("Same<br>batch", row["unexplained_cost_ms"], False, "what the same batch costs more"),
        ]
    steps.append(_Step(label_b, row["total_ms_b"], True, f"{units.counted(row['num_rounds_b'], 'round')} of {label_b}"))
    return steps


def _add_panel(
    figure: go.Figure, column: int, steps: list[_Step], arms: tuple[dict[str, Any], ...], in_legend: set[str]
) -> None:
    level = 0.0
    for place, step in enumerate(steps):
        base = 0.0 if step.is_total else level
        level = base + step.change_ms
        if step.is_total:
            colour = arm_style(arms[0 if place == 0 else -1]["policy"]).colour
            look = SlotStyle("", colour, colour, "")
        else:
            look = COST_STYLES["costs" if step.change_ms > 0 else "saves"]
        figure.add_trace(_bar(step, base, look, bool(look.label) and look.label not in in_legend), row=1, col=column)
        in_legend.add(look.label)
        if place + 1 < len(steps):
            line = go.Scatter(
                x=[step.name, steps[place + 1].name],
                y=[level, level],
                mode="lines",
                line={"color": GUIDE, "width": 1, "dash": "dot"},
                hoverinfo="skip",
                showlegend=False,
            )
            figure.add_trace(line, row=1, col=column)


def _bar(step: _Step, base: float, look: SlotStyle, in_legend: bool) -> go.Bar:
    duration = units.duration(step.change_ms)
    written = duration if step.is_total else units.signed(duration)
    return go.Bar(
        x=[step.name],
        y=[step.change_ms],
        base=[base],
        name=look.label,
        legendgroup=look.label,
        showlegend=in_legend,
        text=[written],
        textposition="outside",
        cliponaxis=False,
        hovertext=[f"<b>{step.name.replace('<br>', ' ')}</b><br>{written}<br>{step.meaning}"],
        hoverinfo="text",
        marker=slot_marker(look),
    )
