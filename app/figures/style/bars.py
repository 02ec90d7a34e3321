"""Lying bars in the look of a class, one line a name: what the figures of ledgers, causes and intervals share."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from radixflow.app.figures.style.palette import SlotStyle, slot_marker


def lying_bars(look: SlotStyle, names: Sequence[str], lengths: Sequence[Any], hover: list[str], **more: Any) -> go.Bar:
    """Make the bars of one class, one a name.

    Args:
        look: Colour, hatch and name of the class.
        names: The line of each bar.
        lengths: How long each bar is, in units of the axis.
        hover: What to say of each bar.
        more: More settings of the trace, such as ``base``.
    """
    return go.Bar(
        orientation="h",
        y=names,
        x=lengths,
        name=look.label,
        hovertext=hover,
        hoverinfo="text",
        marker=slot_marker(look),
        **more,
    )


def name_lines(figure: go.Figure, names: Sequence[str] | None = None) -> None:
    """Read the names of the lines from top to bottom.

    Args:
        figure: The figure.
        names: The names in their order; without them they stand in the order of the bars.
    """
    order = {} if names is None else {"categoryorder": "array", "categoryarray": names}
    figure.update_yaxes(**order, autorange="reversed", showgrid=False, automargin=True, ticksuffix="  ")
