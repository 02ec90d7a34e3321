"""The table behind a figure: every mark that it draws, with its place and its words."""

import html
import re
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa

_TAGS = re.compile(r"<[^>]+>")
_COLUMNS = ("series", "x_axis", "x", "y_axis", "y", "base", "width", "text")


def figure_table(figure: go.Figure) -> pa.Table:
    """List the marks of a figure, one row a mark.

    Columns: ``series`` (name of the trace), ``x_axis`` and ``y_axis`` (titles, with units), ``x``, ``y``, ``base`` and
    ``width`` in these units, and ``text`` (the hover in plain words). Columns that no mark fills are left out.
    """
    rows = [row for trace in figure.data for row in _marks(figure, trace)]
    filled = [name for name in _COLUMNS if any(row[name] is not None for row in rows)]
    return pa.table({name: _column([row[name] for row in rows]) for name in filled})


def _marks(figure: go.Figure, trace: Any) -> list[dict[str, Any]]:
    xs, ys = _values(trace, "x"), _values(trace, "y")
    count = max(len(xs), len(ys))
    texts = _values(trace, "hovertext") or _values(trace, "text")
    named = {"series": _plain(trace.name), "x_axis": _title(figure, trace, "x"), "y_axis": _title(figure, trace, "y")}
    rows = [
        named | {
            "x": _at(xs, place), "y": _at(ys, place), "base": _at(_values(trace, "base"), place),
            "width": _at(_values(trace, "width"), place), "text": _plain(_at(texts, place)),
        }
        for place in range(count)
    ]  # fmt: skip
    return [row for row in rows if row["x"] is not None and row["y"] is not None]


def _values(trace: Any, name: str) -> list[Any]:
    found = trace[name] if name in trace._valid_props else None
    if found is None:
        return []
    return [found] if isinstance(found, str | int | float) else list(found)


def _at(values: list[Any], place: int) -> Any:
    """Return the value of one mark; a single value holds for all."""
    if len(values) == 1:
        return values[0]
    return values[place] if place < len(values) else None


def _title(figure: go.Figure, trace: Any, letter: str) -> str | None:
    """Return the title of an axis; a shared one carries it once, below or beside the others."""
    name = (trace[f"{letter}axis"] if f"{letter}axis" in trace._valid_props else None) or letter
    axis = figure.layout[f"{letter}axis{name[1:]}"]
    shared = getattr(axis, "matches", None)
    if axis.title.text is None and letter == "x":
        titles = [other.title.text for other in figure.select_xaxes() if other.title.text]
        return _plain(titles[-1]) if titles and (shared or len(titles) == 1) else None
    return _plain(axis.title.text)


def _plain(text: Any) -> str | None:
    if text is None:
        return None
    return html.unescape(_TAGS.sub("", str(text).replace("<br>", "; "))).strip()


def _column(values: list[Any]) -> pa.Array:
    values = [value.item() if hasattr(value, "item") else value for value in values]
    if any(isinstance(value, str) for value in values):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array([None if value is None else float(value) for value in values], pa.float64())
