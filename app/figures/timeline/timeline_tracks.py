"""The tracks below the rasters of a timeline: tokens against budget, the queue, and component spans."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import CLOCK_STYLES, GUIDE, HELD, arm_style, slot_marker


class Track(NamedTuple):
    """One track of values that hold for a round.

    Attributes:
        title: What it shows, above it.
        axis: Title of its axis.
        columns: Column of ``round_tracks`` to the noun of its values; the first is drawn in the arm's style, a second
            one dotted.
        limit: Column that is drawn as a dashed line, or None.
    """

    title: str
    axis: str
    columns: dict[str, str]
    limit: str | None = None


TRACKS = (
    Track(
        "<b>Tokens a round</b> against the budget (dashed)", "Tokens", {"tokens_scheduled": "tokens"}, "token_budget"
    ),
    Track(
        "<b>Waiting requests</b> when the scan began, and how many of them admission <b>held</b> (dotted)",
        "Requests",
        {"num_waiting_before": "waiting requests", "num_held": "held requests"},
    ),
)


def track_traces(
    track: Track, rounds: list[dict[str, Any]], runs: list[dict[str, Any]], axis: str
) -> Iterator[dict[str, Any]]:
    """Draw one track of every arm.

    Args:
        track: What to draw.
        rounds: Rows of ``round_tracks``.
        runs: Rows of ``runs``.
        axis: ``time`` or ``round``.
    """
    for run in runs:
        own = [each for each in rounds if each["run"] == run["run"]]
        for place, (column, noun) in enumerate(track.columns.items()):
            if own and (place == 0 or any(each[column] for each in own)):
                yield _steps(own, run, column, noun, axis, place > 0)


def limit_lines(track: Track, rounds: pa.Table, row: int) -> Iterator[dict[str, Any]]:
    """Draw each limit of a track as a dashed line over its whole row of subplots."""
    if track.limit is None:
        return
    number = "" if row == 1 else row
    for limit in layout.distinct(value for value in rounds[track.limit].to_pylist() if value):
        yield {
            "type": "line",
            "xref": f"x{number} domain",
            "yref": f"y{number}",
            "x0": 0,
            "x1": 1,
            "y0": limit,
            "y1": limit,
            "line": {"color": GUIDE, "width": 1, "dash": "dash"},
        }


def _steps(
    rows: list[dict[str, Any]], run: dict[str, Any], column: str, noun: str, axis: str, is_second: bool
) -> dict[str, Any]:
    """Draw a value that holds from the start to the end of each round."""
    look = arm_style(run["policy"])
    x: list[float] = []
    for row in rows:
        x += [row["start_ms"], row["end_ms"]] if axis == "time" else [row["first_round"] - 0.5, row["last_round"] + 0.5]
    hover = [
        f"<b>{layout.plain(run['label'])}</b><br>{units.number(row[column])} {noun}"
        f"<br>round {units.number(row['first_round'])}"
        for row in rows
        for _ in range(2)
    ]
    line = {"color": HELD, "dash": "dot"} if is_second else {"color": look.colour, "dash": look.dash}
    return {
        "type": "scatter",
        "x": x,
        "y": [row[column] for row in rows for _ in range(2)],
        "mode": "lines",
        "line": {**line, "width": 1.5, "shape": "hv"},
        "hovertext": hover,
        "hoverinfo": "text",
        "name": run["label"],
        "legendgroup": "tracks",
        "showlegend": False,
    }


def lanes(spans: pa.Table) -> dict[int, list[str]]:
    """Name the lanes of each run that has spans, in the order in which they are drawn."""
    found: dict[int, list[str]] = {}
    for row in spans.to_pylist():
        names = found.setdefault(row["run"], [])
        if (name := _lane(row)) not in names:
            names.append(name)
    return found


def span_traces(spans: pa.Table, run: int, names: list[str]) -> list[dict[str, Any]]:
    """Draw the spans of one run, one trace a clock; a mark of several spans is as high as they were busy.

    Args:
        spans: Rows of ``queries.spans.spans``.
        run: Which run.
        names: Its lanes, as :func:`lanes` gives them.
    """
    rows = [row for row in spans.to_pylist() if row["run"] == run]
    clocks = layout.distinct(row["clock"] for row in rows)
    return [_span_bars(clock, [row for row in rows if row["clock"] == clock], names) for clock in clocks]


def _span_bars(clock: str, rows: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    look = CLOCK_STYLES.get(clock, CLOCK_STYLES["host"])
    heights = [0.8 * (1.0 if row["num_spans"] == 1 else row["busy_fraction"] or 0.0) for row in rows]
    return {
        "type": "bar",
        "x": [(row["start_ms"] + row["end_ms"]) / 2 for row in rows],
        "width": [row["end_ms"] - row["start_ms"] for row in rows],
        "base": [names.index(_lane(row)) + 0.4 - height for row, height in zip(rows, heights, strict=True)],
        "y": heights,
        "hovertext": [_span_hover(row) for row in rows],
        "hoverinfo": "text",
        "customdata": [f"{row['run']} {row['first_round']} {row['last_round']}" for row in rows],
        "name": look.label,
        "showlegend": False,
        "marker": slot_marker(look),
    }


def _lane(row: dict[str, Any]) -> str:
    rank = "" if row["process_rank"] is None else f" {row['process_rank']}"
    return f"{row['component']}{rank}" + (" (device)" if row["clock"] == "device" else "")


def _span_hover(row: dict[str, Any]) -> str:
    process = "engine process" if row["process_rank"] is None else f"worker {row['process_rank']}"
    place = f"{process}, {row['clock']} clock"
    title = f"<b>{layout.plain(row['component'])}</b>"
    if row["num_spans"] == 1:
        lasts = units.duration(row["end_ms"] - row["start_ms"])
        return f"{title}<br>{lasts}<br>round {units.number(row['first_round'])}, {layout.plain(place)}"
    rounds = f"rounds {units.number(row['first_round'])} to {units.number(row['last_round'])}"
    busy = units.fraction(row["busy_fraction"])
    return (
        f"{title}<br>{units.counted(row['num_spans'], 'span')}, {busy} of the time<br>{rounds}, {layout.plain(place)}"
    )
