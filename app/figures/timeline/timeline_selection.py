"""What is selected on a timeline: its outline, and arrows from producers to those that waited for them."""

from collections.abc import Iterator
from typing import Any, Protocol

import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import CAUSE_STYLES, SELECTION
from radixflow.app.figures.timeline.slot_marks import interval

_CAUSE_DASHES = {"being_written": "solid", "marked_again": "dot"}


class Selection(Protocol):
    """The part of ``TimelineData`` that says what is selected."""

    @property
    def axis(self) -> str:
        """``time`` or ``round``."""

    @property
    def raster(self) -> pa.Table:
        """Rows of ``slot_cells`` or of ``slot_sums``."""

    @property
    def arrows(self) -> pa.Table:
        """Rows of ``queries.dependencies.arrows``."""

    @property
    def selected_run(self) -> int | None:
        """Index of the run in which a round is selected."""

    @property
    def selected_round(self) -> int | None:
        """A round."""

    @property
    def selected_request(self) -> str | None:
        """Name of a request."""


def selection_traces(row_of: dict[int, int], data: Selection) -> Iterator[dict[str, Any]]:
    """Outline the cells of what is selected, and draw its arrows.

    Args:
        row_of: Index of a run to the row of subplots of its raster.
        data: What is selected.
    """
    if "slot" in data.raster.column_names and (data.selected_request or data.selected_round is not None):
        cells = [cell for cell in data.raster.to_pylist() if _is_selected(cell, data)]
        for run, row in row_of.items():
            own = [cell for cell in cells if cell["run"] == run]
            if own:
                yield layout.on_row(_outline(own, data.axis), row)
    rows = data.arrows.to_pylist()
    for run, row in row_of.items():
        for cause in layout.distinct(each["cause"] for each in rows if each["run"] == run):
            own = [each for each in rows if (each["run"], each["cause"]) == (run, cause)]
            yield layout.on_row(_arrows(own, cause, data.axis), row)


def _is_selected(cell: dict[str, Any], data: Selection) -> bool:
    if data.selected_request:
        return bool(cell["request_id"] == data.selected_request)
    return bool(cell["round"] == data.selected_round and data.selected_run in (None, cell["run"]))


def _outline(cells: list[dict[str, Any]], axis: str) -> dict[str, Any]:
    places = [interval(cell["round"], cell["round"], cell["start_ms"], cell["end_ms"], axis) for cell in cells]
    return {
        "type": "bar",
        "x": [left + width / 2 for left, width in places],
        "width": [width for _, width in places],
        "base": [cell["slot"] + 0.02 for cell in cells],
        "y": [0.96] * len(cells),
        "hoverinfo": "skip",
        "showlegend": False,
        "name": "Selected",
        "marker": {"color": layout.TRANSPARENT, "line": {"width": 2.5, "color": SELECTION}},
    }


def _arrows(rows: list[dict[str, Any]], cause: str, axis: str) -> dict[str, Any]:
    """Draw one line a producer and consumer, from the cell that writes the state to the cell that used it."""
    x: list[float | None] = []
    y: list[float | None] = []
    for row in rows:
        x += [_middle(row, "from", axis), _middle(row, "to", axis), None]
        y += [row["from_slot"] + 0.5, row["to_slot"] + 0.5, None]
    look = CAUSE_STYLES.get(cause, CAUSE_STYLES["being_written"])
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines+markers",
        "line": {"color": SELECTION, "width": 1.6, "dash": _CAUSE_DASHES.get(cause, "solid")},
        "marker": {
            "color": SELECTION,
            "size": [5, 11, 0] * len(rows),
            "symbol": ["circle", "arrow", "circle"] * len(rows),
            "angleref": "previous",
        },
        "hovertext": [text for row in rows for text in [_hover(row, look.label)] * 3],
        "hoverinfo": "text",
        "name": f"Waited: {look.label.lower()}",
        "legendgroup": "arrows",
        "showlegend": False,
        "connectgaps": False,
    }


def _middle(row: dict[str, Any], end: str, axis: str) -> float:
    number = row[f"{end}_round"]
    left, width = interval(number, number, row[f"{end}_start_ms"], row[f"{end}_end_ms"], axis)
    return left + width / 2


def _hover(row: dict[str, Any], cause: str) -> str:
    rounds = f"round {units.number(row['first_round'])}"
    if row["first_round"] != row["last_round"]:
        rounds = f"rounds {units.number(row['first_round'])} to {units.number(row['last_round'])}"
    return (
        f"<b>{layout.plain(row['consumer'])}</b> waited for <b>{layout.plain(row['producer'])}</b>"
        f"<br>{cause.lower()}, {rounds}, {units.counted(row['num_visits'], 'visit')}"
        f"<br>selected in round {units.number(row['to_round'])}"
    )
