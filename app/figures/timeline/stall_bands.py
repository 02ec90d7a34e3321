"""Stalls on the timeline: a band as high as the raster, from the first step without work to the last."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style.layout import plain
from radixflow.app.figures.style.palette import STALL, slot_marker
from radixflow.app.sentences.stalls import stall_cause_words

_GAP_WIDTH = 0.06
"""Width of a band where rounds, not time, are on the axis: that of the gap between two rounds."""


def stall_traces(stalls: pa.Table, runs: list[dict[str, Any]], axis: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Make one trace an arm that stalled, with the number of its run.

    Args:
        stalls: Rows of ``queries.stalls.in_window``.
        runs: Rows of ``runs``.
        axis: ``time`` or ``round``.
    """
    is_first = True
    for run in runs:
        own = [stall for stall in stalls.to_pylist() if stall["run"] == run["run"]]
        if own:
            yield run["run"], _bands(own, run["row_capacity"] or 1, axis, is_first)
            is_first = False


def _bands(stalls: list[dict[str, Any]], capacity: int, axis: str, in_legend: bool) -> dict[str, Any]:
    places = [_place(stall, axis) for stall in stalls]
    marker = slot_marker(STALL)
    return {
        "type": "bar",
        "x": [(left + right) / 2 for left, right in places],
        "width": [right - left for left, right in places],
        "base": 0,
        "y": [capacity] * len(stalls),
        "hovertext": [_hover(stall) for stall in stalls],
        "hoverinfo": "text",
        "customdata": [_round_to_open(stall) for stall in stalls],
        "name": STALL.label,
        "legendgroup": "stall",
        "showlegend": in_legend,
        "marker": marker | {"line": {"width": 1, "color": STALL.outline}},  # a short one is still a line
    }


def _place(stall: dict[str, Any], axis: str) -> tuple[float, float]:
    if axis == "time":
        return stall["start_ms"], stall["end_ms"]
    return stall["place"] - _GAP_WIDTH / 2, stall["place"] + _GAP_WIDTH / 2


def _round_to_open(stall: dict[str, Any]) -> str | None:
    """A click opens the round before the stall, if there is one."""
    number = stall["round_before"]
    return None if number is None else f"{stall['run']} {number} {number}"


def _hover(stall: dict[str, Any]) -> str:
    before = stall["round_before"]
    lines = [
        f"<b>{STALL.label}</b>",
        plain(stall_cause_words(stall)),
        f"{units.counted(stall['num_steps'], 'step')} without work in {units.duration(stall['duration_ms'])}",
        f"{units.counted(stall['num_waiting'], 'request')} waiting, {units.number(stall['num_running'])} running",
        f"{units.counted(stall['num_free_blocks'], 'free block')}; reason: {plain(stall['stop_reason'])}",
        "before the first round" if before is None else f"after round {units.number(before)}",
    ]
    return "<br>".join(lines)
