"""Turns rows of the slot raster into rectangles, independently of how Plotly draws them."""

from typing import Any, NamedTuple

import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style.layout import plain
from radixflow.app.figures.style.palette import SLOT_STYLES, group_shade, slot_style_key

_CELL_INSET = 0.06
"""Share of a slot's height left free below and above a cell, so that neighbouring rows can be told apart."""
_ROUND_WIDTH = 0.94
"""Width of a round where rounds, not time, are on the axis."""


class Mark(NamedTuple):
    """One rectangle of the raster.

    Attributes:
        run: Index of the run.
        style: Key into ``SLOT_STYLES``.
        left: Left edge, in ms or rounds.
        width: Width, in ms or rounds.
        base: Lower edge, in row slots.
        height: Height, in row slots.
        colour: Fill colour.
        hover: Text of the hover, escaped.
        first_round: First round that it stands for.
        last_round: Last round that it stands for.
    """

    run: int
    style: str
    left: float
    width: float
    base: float
    height: float
    colour: str
    hover: str
    first_round: int
    last_round: int


def cell_marks(cells: pa.Table, axis: str) -> list[Mark]:
    """Make one mark a row slot, as wide as its round lasted."""
    return [_cell_mark(cell, axis) for cell in cells.to_pylist()]


def sum_marks(sums: pa.Table, axis: str) -> list[Mark]:
    """Make one mark a class of slot, stacked in the order of the slot ledger."""
    order = {style: position for position, style in enumerate(SLOT_STYLES)}
    rows = [(slot_style_key(row["slot_class"], row["cause"]), row) for row in sums.to_pylist()]
    rows.sort(key=lambda item: (item[1]["run"], item[1]["first_round"], order[item[0]]))
    marks: list[Mark] = []
    for style, row in rows:
        left, width = interval(row["first_round"], row["last_round"], row["start_ms"], row["end_ms"], axis)
        stacked = bool(marks) and marks[-1].run == row["run"] and marks[-1].left == left
        base = marks[-1].base + marks[-1].height if stacked else 0.0
        marks.append(
            Mark(
                row["run"],
                style,
                left,
                width,
                base,
                row["mean_rows"],
                SLOT_STYLES[style].fill,
                _sum_hover(style, row),
                row["first_round"],
                row["last_round"],
            )
        )
    return marks


def _cell_mark(cell: dict[str, Any], axis: str) -> Mark:
    style = slot_style_key(cell["slot_class"], cell["cause"])
    left, width = interval(cell["round"], cell["round"], cell["start_ms"], cell["end_ms"], axis)
    colour = group_shade(cell["request_group"]) if style == "used" else SLOT_STYLES[style].fill
    height, base = 1 - 2 * _CELL_INSET, cell["slot"] + _CELL_INSET
    number = cell["round"]
    return Mark(cell["run"], style, left, width, base, height, colour, _cell_hover(style, cell), number, number)


def interval(first: int, last: int, start_ms: float, end_ms: float, axis: str) -> tuple[float, float]:
    """Return left edge and width of rounds on an axis of time or of rounds."""
    if axis == "time":
        return start_ms, end_ms - start_ms
    return first - _ROUND_WIDTH / 2, last - first + _ROUND_WIDTH


def _cell_hover(style: str, cell: dict[str, Any]) -> str:
    lines = [f"<b>{_cell_title(style, cell)}</b>"]
    lines += _cell_facts(cell)
    duration = units.duration(cell["end_ms"] - cell["start_ms"])
    lines.append(f"round {units.number(cell['round'])}, slot {cell['slot']}, lasts {duration}")
    return "<br>".join(lines)


def _cell_title(style: str, cell: dict[str, Any]) -> str:
    if style == "used":
        return plain(cell["request_id"] or "a request")
    return SLOT_STYLES[style].label


def _cell_facts(cell: dict[str, Any]) -> list[str]:
    facts: list[str] = []
    used = cell["slot_class"] == "used"
    if cell["request_id"] and not used:
        facts.append(f"request {plain(cell['request_id'])}")
    if cell["request_group"] is not None:
        facts.append(f"request group {cell['request_group']}")
    if cell["num_tokens"] is not None:
        facts.append(f"{units.counted(cell['num_tokens'], 'token')} {'scheduled' if used else 'it would have taken'}")
    if used and cell["num_reused_tokens"]:
        facts.append(f"{units.counted(cell['num_reused_tokens'], 'token')} reused from the cache")
    if cell["kind"]:
        facts.append(f"{plain(cell['kind'])} request")
    if cell["producer_request_id"]:
        facts.append(f"waits for {plain(cell['producer_request_id'])}")
    if cell["published_round"] is not None:
        facts.append(f"its state was published in round {units.number(cell['published_round'])}")
    if cell["reason"]:
        facts.append(f"reason: {plain(cell['reason'])}")
    return facts


def _sum_hover(style: str, row: dict[str, Any]) -> str:
    first, last = row["first_round"], row["last_round"]
    one = first == last
    amount = f"{units.number(row['mean_rows'])} rows" if one else f"{units.number(row['mean_rows'])} rows on average"
    place = f"round {units.number(first)}" if one else f"rounds {units.number(first)} to {units.number(last)}"
    lasting = units.duration(row["end_ms"] - row["start_ms"])
    return f"<b>{SLOT_STYLES[style].label}</b><br>{amount}<br>{place}, {lasting}"
