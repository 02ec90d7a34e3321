"""Rows and tokens a round, the arms side by side on shared axes."""

from typing import Any, NamedTuple

import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import AVOIDABLE, GUIDE, USED, arm_style

_HEADROOM = 1.12


class _Quantity(NamedTuple):
    used: str
    avoidable: str
    limit: str
    noun: str
    title: str
    limit_name: str


_QUANTITIES = (
    _Quantity("rows_used", "rows_avoidable", "row_capacity", "rows", "Rows a round (rows)", "capacity"),
    _Quantity("tokens_scheduled", "tokens_avoidable", "token_budget", "tokens", "Tokens a round (tokens)", "budget"),
)


def fullness_by_round(table: pa.Table, runs: pa.Table) -> go.Figure:
    """Draw rows and tokens that each round used, on top what READY requests would have added, and the limit as a line.

    Args:
        table: Rows of ``queries.fullness.fullness_by_round``.
        runs: Rows of ``runs``: one column of panels a run.
    """
    if table.num_rows == 0:
        return layout.empty_figure("No round was recorded, so there is nothing to fill.")
    arms = runs.to_pylist()
    figure = make_subplots(
        rows=2,
        cols=len(arms),
        shared_yaxes=True,
        shared_xaxes=True,
        horizontal_spacing=0.03,
        vertical_spacing=0.1,
        column_titles=[_title(arm) for arm in arms],
    )
    layout.style(figure, 520, barmode="stack", margin={"l": 64, "r": 16, "t": 76, "b": 52}, legend={"y": 1.09})
    figure.update_yaxes(rangemode="tozero", ticks="")
    figure.update_xaxes(showgrid=False)
    last = max(row["last_round"] for row in table.to_pylist())
    for column, arm in enumerate(arms, start=1):
        rows = [row for row in table.to_pylist() if row["run"] == arm["run"]]
        for row_number, quantity in enumerate(_QUANTITIES, start=1):
            _add_panel(figure, rows, quantity, row_number, column)
        figure.update_xaxes(title_text="Round (number)", row=2, col=column)
    figure.update_xaxes(range=[0.5, last + 0.5])
    for row_number, quantity in enumerate(_QUANTITIES, start=1):
        figure.update_yaxes(title_text=quantity.title, row=row_number, col=1)
        figure.update_yaxes(range=[0, _HEADROOM * _top(table, quantity)], row=row_number)
    return figure


def _top(table: pa.Table, quantity: _Quantity) -> float:
    """Find the highest value or limit: the scale is that of what a round could hold, not of what it held."""
    rows = table.to_pylist()
    return max(
        max(row[quantity.limit] or 0, (row[quantity.used] or 0) + (row[quantity.avoidable] or 0), 1) for row in rows
    )


def _title(arm: dict[str, Any]) -> str:
    return f'<span style="color:{arm_style(arm["policy"]).colour}">■</span> <b>{layout.plain(arm["label"])}</b>'


def _add_panel(figure: go.Figure, rows: list[dict[str, Any]], quantity: _Quantity, row: int, column: int) -> None:
    legend = row == 1 and column == 1
    parts = ((quantity.used, "Used", USED), (quantity.avoidable, "Avoidable", AVOIDABLE))
    for key, name, colour in parts:
        figure.add_trace(
            go.Bar(
                x=[(each["first_round"] + each["last_round"]) / 2 for each in rows],
                width=[each["last_round"] - each["first_round"] + 1 for each in rows],
                y=[each[key] for each in rows],
                hovertext=[_hover(each, key, name, quantity.noun) for each in rows],
                hoverinfo="text",
                name=name,
                legendgroup=name,
                showlegend=legend,
                marker={"color": colour, "line": {"width": 0}},
            ),
            row=row,
            col=column,
        )
    limits = [each[quantity.limit] for each in rows if each[quantity.limit] is not None]
    if limits:
        figure.add_hline(
            y=max(limits),
            line={"color": GUIDE, "width": 1, "dash": "dash"},
            row=row,
            col=column,
            annotation={
                "text": f"{quantity.limit_name} {units.number(max(limits))}",
                "font": {"size": 11, "color": GUIDE},
            },
            annotation_position="top right",
        )


def _hover(row: dict[str, Any], key: str, name: str, noun: str) -> str:
    first, last = row["first_round"], row["last_round"]
    place = (
        f"round {units.number(first)}"
        if first == last
        else f"mean of rounds {units.number(first)} to {units.number(last)}"
    )
    return f"<b>{units.number(row[key])} {noun}</b> {name.lower()}<br>{place}"
