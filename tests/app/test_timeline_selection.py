"""Arrows from producers to consumers, the search of a request, spans, and what the timeline makes of them."""

import pytest

from radixflow.app.figures.timeline.timeline_tracks import lanes, span_traces
from radixflow.app.queries import dependencies, slot_raster, spans
from radixflow.app.queries.dependencies import NOTHING, Selected
from radixflow.app.queries.windowed import EVERYTHING, Window
from radixflow.schema.reading.connection import open_runs
from tests import builders
from tests.app.test_pages import go


def arrows(connection, selected):
    """Run, producer, consumer, cause, and the (round, slot) of both ends."""
    return [
        (row["run"], row["producer"], row["consumer"], row["cause"], (row["from_round"], row["from_slot"]),
         (row["to_round"], row["to_slot"]))
        for row in dependencies.arrows(connection, selected).to_pylist()
    ]  # fmt: skip


def test_arrows_of_a_round_go_from_its_producers_to_where_the_consumers_were_selected(pair):
    assert arrows(pair, Selected(0, 1)) == [
        (0, "a0", "a1", "being_written", (1, 0), (2, 0)),
        (0, "a0", "a2", "being_written", (1, 0), (3, 0)),
    ]
    assert arrows(pair, Selected(1, 1)) == [
        (1, "a0", "a1", "being_written", (1, 0), (2, 0)),
        (1, "a0", "a2", "being_written", (1, 0), (3, 0)),
    ]
    assert arrows(pair, Selected(0, 6)) == [] and arrows(pair, Selected(0, 99)) == []


def test_arrows_of_a_request_are_its_waits_and_the_waits_for_it(pair):
    assert arrows(pair, Selected(request="a1")) == [
        (0, "a0", "a1", "being_written", (1, 0), (2, 0)),
        (0, "a1", "a2", "marked_again", (2, 0), (3, 0)),
        (1, "a0", "a1", "being_written", (1, 0), (2, 0)),
        (1, "a1", "a2", "marked_again", (2, 0), (3, 0)),
    ]
    assert arrows(pair, Selected(request="nobody")) == [] and arrows(pair, NOTHING) == []


def test_requests_are_found_by_a_part_of_their_name_the_exact_one_first(pair):
    found = dependencies.find_requests(pair, "a").to_pylist()
    assert [row["request_id"] for row in found] == ["a0", "a1", "a2"]
    assert dependencies.find_requests(pair, "2")["request_id"].to_pylist() == ["a2", "b2"]
    assert dependencies.find_requests(pair, "%").num_rows == dependencies.find_requests(pair, "' OR 1").num_rows == 0
    (row,) = dependencies.find_requests(pair, "b2").to_pylist()
    assert (row["first_round"], row["last_round"]) == (3, 5)
    assert row["start_ms"] == pytest.approx(-50e-6)


def test_spans_are_single_when_near_and_thinned_without_loss_when_far(pair):
    near = spans.spans(pair, EVERYTHING).to_pylist()
    assert len(near) == 3 * (6 + 4)  # schedule, update and execute of ten rounds
    assert {row["num_spans"] for row in near} == {1}
    far = spans.spans(pair, EVERYTHING, max_marks=12).to_pylist()
    assert len(far) <= 2 * 12 and sum(row["num_spans"] for row in far) == len(near)
    assert all(0 < row["busy_fraction"] <= 1 for row in far)
    execute = next(row for row in far if (row["run"], row["component"]) == (0, "execute"))
    # two spans of 60 ns, 100 ns apart, cover 120 of 160 ns
    assert execute["num_spans"] == 2 and execute["busy_fraction"] == pytest.approx(120 / 160)
    assert spans.spans(pair, Window("time", 1e6, 2e6)).num_rows == 0


def test_spans_of_a_very_long_window_are_left_out(pair):
    assert spans.spans_at(pair, EVERYTHING, spans.MAX_ROUNDS_PER_MARK).num_rows == 30
    assert spans.spans_at(pair, EVERYTHING, spans.MAX_ROUNDS_PER_MARK + 1).num_rows == 0


def test_nothing_is_asked_for_beyond_the_ends_of_the_runs():
    whole = Window("time", 0.0, 100.0)
    assert slot_raster.drawn_window(whole, whole) == whole
    assert slot_raster.drawn_window(Window("time", 40.0, 60.0), whole) == Window("time", 30.0, 70.0)
    assert slot_raster.drawn_window(Window("time", -20.0, 20.0), whole) == Window("time", -20.0, 40.0)
    assert slot_raster.drawn_window(Window("time", 90.0, 130.0), whole) == Window("time", 70.0, 130.0)


def test_spans_lie_in_their_lane_and_device_spans_say_so(pair):
    table = spans.spans(pair, EVERYTHING)
    names = lanes(table)
    assert names == {0: ["schedule", "update", "execute 0"], 1: ["schedule", "update", "execute 0"]}
    (trace,) = span_traces(table, 1, names[1])
    assert {round(base) for base in trace["base"]} == {0, 1, 2}
    assert trace["customdata"][0] == "1 1 1"
    assert "engine process, host clock" in trace["hovertext"][0]


def test_a_search_moves_the_window(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = go(open_app(tmp_path), "timeline")
    app.segmented_control(key="axis").set_value("round").run()
    app.text_input(key="request").set_value("b2").run()
    assert not app.exception
    # selected in round 5 of one arm and round 3 of the other, with a quarter of that on both sides
    assert (app.number_input(key="from").value, app.number_input(key="to").value) == (2.5, 5.5)
    app.text_input(key="request").set_value("nobody*").run()
    assert any("No request has “nobody\\*” in its name" in caption.value for caption in app.caption)
    app.text_input(key="request").set_value("b").run()
    assert app.pills(key="request_match").options == ["b0", "b1", "b2"] and not app.exception


def test_a_link_selects_a_round(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path)
    app.query_params["round"] = "2"
    app.query_params["arm"] = "radixflow-immediate"
    go(app, "timeline")
    assert app.number_input(key="round").value == 2 and not app.exception


def test_the_marks_of_a_view_stay_within_the_limit(tmp_path):
    """Counted over everything that a browser draws one by one, on a run with more cells than that."""
    run = builders.RunBuilder(tmp_path / "run", "radix", row_capacity=16)
    run.request("a", prompt=10_000_000)
    for number in range(16):
        run.request(f"r{number}", prompt=10_000_000)
    for _ in range(600):
        run.round(*((f"r{number}", 1) for number in range(16)), finishes=False)
    connection = open_runs([run.write()])
    drawn = slot_raster.drawn_window(slot_raster.whole_window(slot_raster.extent(connection), "time"))
    level = slot_raster.choose_level(slot_raster.window_totals(connection, drawn))
    assert level.kind == "rounds"
    marks = slot_raster.raster(connection, drawn, level).num_rows + spans.spans(connection, drawn).num_rows
    assert 0 < marks + dependencies.MAX_ARROWS <= 4000
