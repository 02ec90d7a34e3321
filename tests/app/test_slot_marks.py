"""The rectangles of the raster, by value."""

import pyarrow as pa
import pytest

from radixflow.app.figures.timeline.slot_marks import cell_marks, sum_marks
from radixflow.app.queries import slot_raster

EVERYTHING = slot_raster.EVERYTHING


def test_a_cell_is_as_wide_as_its_round_lasted(pair):
    cells = slot_raster.slot_cells(pair, EVERYTHING)
    marks = cell_marks(cells, "time")
    assert len(marks) == cells.num_rows
    first = next(mark for mark in marks if mark.run == 0)
    assert (first.left, first.style) == (0.0, "used")
    assert first.width == pytest.approx(85e-6)  # 90 ns of a round less 5 ns of the probe, in ms
    assert first.height == pytest.approx(0.88) and first.base == pytest.approx(0.06)


def test_the_avoidable_cells_of_the_prefix_stop_arm_name_the_ready_request(pair):
    marks = cell_marks(slot_raster.slot_cells(pair, EVERYTHING), "round")
    avoidable = [mark for mark in marks if mark.style == "avoidable"]
    assert [(mark.run, round(mark.left + mark.width / 2), mark.base) for mark in avoidable] == [
        (0, 1, 1.06), (0, 2, 1.06), (0, 4, 1.06),
    ]  # fmt: skip
    assert ["request b0" in mark.hover for mark in avoidable] == [True, True, False]
    assert "request c0" in avoidable[2].hover
    assert all("48 tokens it would have taken" in mark.hover for mark in avoidable)


def test_a_used_cell_names_its_tokens_and_what_it_reused(pair):
    marks = cell_marks(slot_raster.slot_cells(pair, EVERYTHING), "round")
    hover = next(mark.hover for mark in marks if "<b>a1</b>" in mark.hover)
    assert "16 tokens scheduled" in hover and "32 tokens reused" in hover and "request group 0" in hover


def test_what_a_run_says_is_escaped():
    row = {
        "run": 0, "round": 1, "slot": 0, "slot_class": "used", "start_ms": 0.0, "end_ms": 1.0,
        "request_id": "<img src=x onerror=alert(1)>", "request_group": None, "num_tokens": 1, "num_reused_tokens": 0,
        "kind": "<b>", "producer_request_id": None, "cause": None, "reason": None, "published_round": None,
    }  # fmt: skip
    (mark,) = cell_marks(pa.Table.from_pylist([row]), "time")
    assert "<img" not in mark.hover and "&lt;img src=x" in mark.hover and "&lt;b&gt; request" in mark.hover


@pytest.mark.parametrize("step", [1, 2, 100])
def test_thinned_marks_cover_exactly_the_area_of_the_cells(pair, step):
    """The control arm is the raster itself: thinning may move an edge, never an area."""
    cells = slot_raster.slot_cells(pair, EVERYTHING).to_pylist()
    sums = slot_raster.slot_sums(pair, EVERYTHING, step).to_pylist()
    rounds = {(cell["run"], cell["round"]): cell["end_ms"] - cell["start_ms"] for cell in cells}
    for style in ("used", "avoidable"):
        for run in (0, 1):
            exact = sum(c["end_ms"] - c["start_ms"] for c in cells if (c["run"], c["slot_class"]) == (run, style))
            thinned = sum(
                row["mean_rows"] * sum(
                    width for (of, number), width in rounds.items()
                    if of == run and row["first_round"] <= number <= row["last_round"]
                )
                for row in sums if (row["run"], row["slot_class"]) == (run, style)
            )  # fmt: skip
            assert thinned == pytest.approx(exact)


def test_the_classes_of_a_round_are_stacked_in_the_order_of_the_ledger(pair):
    marks = [mark for mark in sum_marks(slot_raster.slot_sums(pair, EVERYTHING, 1), "round") if mark.run == 0]
    by_round: dict[float, list] = {}
    for mark in marks:
        by_round.setdefault(mark.left, []).append(mark)
    first = by_round[min(by_round)]
    assert [(mark.style, mark.base, mark.height) for mark in first] == [("used", 0, 1), ("avoidable", 1, 1)]


def test_the_finest_level_within_the_limit_is_chosen():
    totals = pa.table({"num_cells": [100, 200], "num_rounds": [50, 50]})
    assert slot_raster.choose_level(totals, max_marks=300) == slot_raster.Level("cells", 1)
    assert slot_raster.choose_level(totals, max_marks=299) == slot_raster.Level("rounds", 2)
    crowded = pa.table({"num_cells": [10_000_000], "num_rounds": [500_000]})
    level = slot_raster.choose_level(crowded)
    assert level.kind == "rounds" and 500_000 / level.rounds_per_mark * 4 <= slot_raster.MAX_MARKS


def test_a_window_moves_to_the_next_bubble_and_keeps_its_length(pair):
    start = slot_raster.Window("round", 0, 2)
    second = slot_raster.neighbour(pair, start, "next")
    assert second == slot_raster.Window("round", 1, 3)
    assert slot_raster.neighbour(pair, second, "next") == slot_raster.Window("round", 3, 5)
    assert slot_raster.neighbour(pair, second, "previous") == slot_raster.Window("round", 0, 2)
    assert slot_raster.neighbour(pair, slot_raster.Window("round", 4, 6), "next") is None
