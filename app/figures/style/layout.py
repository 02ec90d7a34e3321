"""What every figure has in common: transparent ground, quiet grid, escaped text, and the empty figure."""

import html
from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

from radixflow.app.figures.style.palette import GUIDE, USED

GRID = "rgba(138,138,138,0.18)"
FRAME = "rgba(138,138,138,0.45)"
TRANSPARENT = "rgba(0,0,0,0)"


def plain(text: object) -> str:
    """Escape a text that comes from a run: Plotly renders a subset of HTML in titles, labels and hovers."""
    return html.escape(str(text), quote=False)


def new_figure(height: int, **layout: Any) -> go.Figure:
    """Make a figure without data, with the common look.

    Args:
        height: Height in pixels.
        layout: More layout settings.
    """
    return style(go.Figure(), height, **layout)


def style(figure: go.Figure, height: int, **layout: Any) -> go.Figure:
    """Give a figure the common look. No text colour is set, so that it follows the page's theme."""
    figure.update_layout(
        height=height,
        paper_bgcolor=TRANSPARENT,
        plot_bgcolor=TRANSPARENT,
        margin={"l": 64, "r": 16, "t": 40, "b": 48},
        showlegend=True,
        hovermode="closest",
        hoverlabel={"align": "left", "namelength": -1},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1.02,
            "xanchor": "left",
            "x": 0,
            "title": {"text": ""},
            "traceorder": "normal",
        },
        bargap=0,
        modebar={"bgcolor": TRANSPARENT, "color": GUIDE, "activecolor": USED},
    )
    figure.update_xaxes(gridcolor=GRID, linecolor=FRAME, zeroline=False, ticks="outside", tickcolor=FRAME, ticklen=4)
    figure.update_yaxes(gridcolor=GRID, linecolor=FRAME, zeroline=False)
    figure.update_layout(**layout)
    return figure


def empty_figure(sentence: str, height: int = 240) -> go.Figure:
    """Make a figure that says in one sentence why there is nothing to see."""
    figure = new_figure(height)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    figure.add_annotation(
        text=plain(sentence), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper", font={"size": 15}
    )
    return figure


def on_row(trace: dict[str, Any], row: int) -> dict[str, Any]:
    """Return a trace with the axes of a row of subplots, counted from 1."""
    number = "" if row == 1 else row
    return trace | {"xaxis": f"x{number}", "yaxis": f"y{number}"}


def distinct(values: Iterable[Any]) -> list[Any]:
    """List the distinct values in the order in which they first appear."""
    return list(dict.fromkeys(values))
