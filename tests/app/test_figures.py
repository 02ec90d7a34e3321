"""Every figure: by value on the tiny pair, with units on its axes, and empty when there is nothing to draw."""

import json
import re
from functools import cache

import pyarrow as pa
import pytest

from radixflow.app.figures.blocked.consumer_waits import consumer_waits
from radixflow.app.figures.blocked.dependency_graph import dependency_graph
from radixflow.app.figures.blocked.producers import producers
from radixflow.app.figures.blocked.visits_by_cause import visits_by_cause
from radixflow.app.figures.blocked.waiting_times import waiting_times
from radixflow.app.figures.cost.cost_waterfall import cost_waterfall
from radixflow.app.figures.cost.round_costs import round_costs
from radixflow.app.figures.fullness.fullness_by_round import fullness_by_round
from radixflow.app.figures.fullness.rows_distribution import rows_distribution
from radixflow.app.figures.fullness.slot_ledger import slot_ledger
from radixflow.app.figures.fullness.stop_reasons import stop_reasons
from radixflow.app.figures.fullness.tokens_distribution import tokens_distribution
from radixflow.app.figures.fullness.waiting_against_executing import waiting_against_executing
from radixflow.app.figures.latency.latency_ecdf import latency_ecdf
from radixflow.app.figures.latency.latency_percentiles import latency_percentiles
from radixflow.app.figures.latency.latency_split import latency_split
from radixflow.app.figures.lens.request_life import LifeData, request_life
from radixflow.app.figures.lens.round_budget import round_budget
from radixflow.app.figures.lens.round_scan import round_scan
from radixflow.app.figures.lens.round_spans import round_spans
from radixflow.app.figures.pairs.paired_differences import paired_differences
from radixflow.app.figures.pairs.paired_latencies import paired_latencies
from radixflow.app.figures.style.palette import AVOIDABLE
from radixflow.app.figures.timeline.bubble_timeline import TimelineData, bubble_timeline
from radixflow.app.figures.tokens.repeated_intervals import repeated_intervals
from radixflow.app.figures.tokens.repeated_tokens import repeated_tokens
from radixflow.app.figures.tokens.token_ledger import token_ledger
from radixflow.app.queries import (
    blocked,
    costs,
    fullness,
    latency,
    pairs,
    request_lens,
    round_lens,
    run_facts,
    slot_raster,
    tokens,
)
from radixflow.app.sentences.cost_shift import CLOCKS
from radixflow.schema.reading.connection import open_nothing, open_runs
from tests import builders

EVERYTHING = slot_raster.EVERYTHING


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A connection to both arms of the tiny stream, as elsewhere; opened once, since figures change nothing."""
    connection = open_runs(builders.tiny_pair(tmp_path_factory.mktemp("pair")))
    yield connection
    connection.close()


COMPLETION = ("branch", "sent_to_completed")


def timeline(connection, axis="time", level=None):
    level = level or slot_raster.choose_level(slot_raster.window_totals(connection, EVERYTHING))
    visible = slot_raster.whole_window(slot_raster.extent(connection), axis)
    raster = slot_raster.raster(connection, EVERYTHING, level)
    tracks = slot_raster.round_tracks(connection, EVERYTHING, level.rounds_per_mark)
    return bubble_timeline(
        TimelineData(run_facts.runs(connection), raster, tracks, axis, visible.low, visible.high, "Level: a test")
    )


def life(connection, run, name):
    found = request_lens.life(connection, run, name)
    (row,) = found.to_pylist() or [{"request": None, "registered_ms": None, "finished_ms": None}]
    bounds = request_lens.rounds_of_life(connection, run, row["registered_ms"], row["finished_ms"])
    asked = (connection, request_lens.lifetime(run, bounds), row["request"])
    data = (request_lens.visits(*asked), request_lens.rows(*asked), request_lens.rows_of_producers(*asked))
    return request_life(LifeData(found, *data))


def lens(connection, run, number):
    """The figures of the page of one round."""
    rounds, scan = round_lens.one_round(connection, run, number), round_lens.scan(connection, run, number)
    return (
        round_budget(rounds, round_lens.cells(connection, run, number)),
        round_scan(rounds, scan),
        round_spans(round_lens.spans(connection, run, number)),
    )


@cache
def every_figure(connection):
    runs, summary = run_facts.runs(connection), run_facts.run_summary(connection)
    both = ({"label": "first", "policy": "radix"}, {"label": "second", "policy": "radixflow"})
    requests = pairs.paired_requests(connection, 0, 1)
    waits, visits = blocked.consumers(connection), blocked.visits_of_consumers(connection)
    step = fullness.rounds_per_bar(summary)
    return {
        "timeline": timeline(connection),
        "timeline by round": timeline(connection, "round"),
        "timeline thinned": timeline(connection, level=slot_raster.Level("rounds", 2)),
        "fullness by round": fullness_by_round(fullness.fullness_by_round(connection, step), runs),
        "tokens distribution": tokens_distribution(fullness.tokens_distribution(connection), runs),
        "rows distribution": rows_distribution(fullness.rows_distribution(connection), runs),
        "slot ledger": slot_ledger(fullness.slot_totals(connection), runs),
        "stop reasons": stop_reasons(fullness.stop_reasons(connection), runs),
        "visits by cause": visits_by_cause(blocked.visits_by_cause(connection), runs),
        "producers": producers(blocked.producers(connection), 0),
        "consumer waits": consumer_waits(waits, visits, 0),
        "waiting times": waiting_times(latency.ecdf(connection, "branch", "registered_to_selected"), runs),
        "request life": life(connection, 0, "a2"),
        "round budget": lens(connection, 0, 1)[0],
        "round scan": lens(connection, 0, 1)[1],
        "round spans": lens(connection, 0, 1)[2],
        "token ledger": token_ledger(tokens.parts(connection)),
        "cost waterfall": cost_waterfall(costs.shifts(connection, 0, 1), *both, CLOCKS),
        "round costs": round_costs(costs.rounds(connection, 0, 1, "host_execute", 1), runs),
        "latency distribution": latency_ecdf(latency.ecdf(connection, *COMPLETION), runs, "Sent to completed"),
        "latency percentiles": latency_percentiles(latency.summary(connection, *COMPLETION), runs, "Sent to completed"),
        "latency split": latency_split(latency.split(connection)),
        "waiting against executing": waiting_against_executing(latency.parts(connection), runs),
        "paired differences": paired_differences(requests, *both),
        "paired latencies": paired_latencies(requests, *both),
    }


def without_axes(connection):
    """Figures without axes, and those that are empty where nothing was computed twice."""
    return {
        "dependency graph": dependency_graph(blocked.producers(connection), 0),
        "repeated tokens": repeated_tokens(tokens.repeated_by_cause(connection), run_facts.runs(connection)),
        "repeated intervals": repeated_intervals(tokens.repeated(connection, 0, tokens.MAX_INTERVALS)),
    }


def axis_titles(figure):
    """Titles of the axes that stand at an edge: every value axis, and every category axis that has a title."""
    layout = figure.to_plotly_json()["layout"]
    return [
        axis["title"]["text"]
        for name, axis in layout.items()
        if re.fullmatch(r"[xy]axis\d*", name) and axis.get("title", {}).get("text")
    ]


def bars(figure, name):
    return [trace for trace in figure.data if trace.type == "bar" and trace.name == name]


def test_every_axis_title_has_its_unit(pair):
    units = r"\((ms|rows|tokens|rounds|visits|number|%)\)$|^(Tokens|Requests)$"
    for name, figure in every_figure(pair).items():
        assert axis_titles(figure), name
        assert all(re.search(units, title) for title in axis_titles(figure)), (name, axis_titles(figure))


def test_every_figure_has_a_transparent_ground_and_leaves_text_to_the_theme(pair):
    for name, figure in every_figure(pair).items():
        assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)", name
        assert figure.layout.font.color is None, name


def test_every_figure_of_nothing_says_so_in_a_sentence():
    with open_nothing() as connection:
        for name, figure in (every_figure(connection) | without_axes(connection)).items():
            (annotation,) = figure.layout.annotations
            assert annotation.text.endswith(".") and not figure.data, name


@pytest.mark.parametrize("make", [builders.empty_run, builders.one_round_run, builders.incomplete_run])
def test_every_figure_survives_a_run_with_little_in_it(tmp_path, make):
    with open_runs([make(tmp_path)]) as connection:
        for name, figure in every_figure(connection).items():
            assert json.loads(figure.to_json()), name


def test_a_figure_with_data_has_no_sentence_of_emptiness(pair):
    """The control arm of the test above."""
    for name, figure in every_figure(pair).items():
        assert figure.data, name


def test_the_timeline_draws_one_trace_a_class_and_arm(pair):
    figure = timeline(pair)
    (avoidable,) = bars(figure, "Avoidable bubble")
    assert avoidable.marker.color == AVOIDABLE and avoidable.marker.pattern.shape is None
    assert list(avoidable.base) == [1.06] * 3 and avoidable.yaxis == "y"
    assert len(bars(figure, "Used row")) == 2
    assert {trace.yaxis for trace in bars(figure, "Used row")} == {"y", "y2"}
    hatched = [trace for trace in figure.data if trace.name in ("Waiting on a producer", "State marked again")]
    assert all(trace.marker.pattern.shape for trace in hatched)


def test_the_timeline_shares_one_axis_and_shows_the_asked_window(pair):
    figure = timeline(pair, "round")
    assert list(figure.layout.xaxis.range) == [0.5, 6.5]
    assert "Round (number)" in axis_titles(figure)
    assert "Level: a test" in [annotation.text for annotation in figure.layout.annotations]
    budget = [shape.y0 for shape in figure.layout.shapes]
    assert budget == [128]


def test_an_arm_without_rounds_keeps_its_raster(tmp_path):
    _, state_ready = builders.tiny_pair(tmp_path)
    with open_runs([builders.empty_run(tmp_path / "other"), state_ready]) as connection:
        figure = timeline(connection)
    assert {"y", "y2"} <= {trace.yaxis for trace in figure.data}
    assert [trace.yaxis for trace in bars(figure, "Used row")] == ["y2"]


def test_used_rows_are_coloured_by_request_group(pair):
    used = next(trace for trace in bars(timeline(pair), "Used row") if trace.yaxis == "y2")
    assert len(set(used.marker.color)) == 4


def test_fullness_stacks_what_was_avoidable_on_what_was_used(pair):
    figure = every_figure(pair)["fullness by round"]
    used, avoidable = figure.data[0], figure.data[1]
    assert (list(used.y), list(avoidable.y)) == ([1, 1, 2, 1, 2, 1], [1, 1, 0, 1, 0, 0])
    assert figure.layout.barmode == "stack" and avoidable.marker.color == AVOIDABLE
    assert {shape.y0 for shape in figure.layout.shapes} == {2, 128}


def test_the_slot_ledger_adds_up_to_all_slots(pair):
    figure = every_figure(pair)["slot ledger"]
    totals = {
        label: sum(dict(zip(t.y, t.x, strict=True)).get(label, 0) for t in figure.data) for label in figure.data[0].y
    }
    assert totals == {"radix": pytest.approx(100), "radixflow-immediate": pytest.approx(100)}


def test_stop_reasons_are_counted_for_each_arm(pair):
    figure = every_figure(pair)["stop reasons"]
    counts = {trace.name: dict(zip(trace.y, trace.x, strict=True)) for trace in figure.data}
    assert counts["radix"] == {"Row capacity": 2, "A blocked request": 3, "End of the queue": 1}
    assert counts["radixflow-immediate"] == {"Row capacity": 3, "A blocked request": 0, "End of the queue": 1}


def test_the_two_causes_of_a_block_are_never_merged(pair):
    figure = every_figure(pair)["visits by cause"]
    counts = {trace.name: dict(zip(trace.y, trace.x, strict=True)) for trace in figure.data}
    assert counts == {
        "State being written": {"radix": 1, "radixflow-immediate": 2},
        "State marked again": {"radix": 2, "radixflow-immediate": 1},
    }


def test_producers_name_their_consumers(pair):
    figure = producers(blocked.producers(pair), 0)
    hovers = [hover for trace in figure.data for hover in trace.hovertext]
    assert any("<b>a0</b>" in hover and "a1" in hover and "a2" in hover for hover in hovers)


def test_a_wait_runs_from_registration_to_selection(pair):
    figure = consumer_waits(blocked.consumers(pair), blocked.visits_of_consumers(pair), 0)
    lines = figure.data[0]
    a2 = list(lines.y).index("a2")
    assert lines.x[a2] == pytest.approx(-50e-6) and lines.x[a2 + 1] == pytest.approx(200e-6)
    assert figure.data[-1].name == "First selected"


def test_differences_are_sorted_from_the_largest_gain(pair):
    requests = pairs.paired_requests(pair, 0, 1)
    first, second = {"label": "radix", "policy": "radix"}, {"label": "flow", "policy": "radixflow-immediate"}
    figure = paired_differences(requests, first, second)
    values = [value for trace in figure.data for value in trace.y]
    assert values == sorted(values) and len(values) == 8
    assert figure.data[0].marker.color == "#E69F00"


def test_requests_with_other_first_tokens_are_crossed(pair):
    rows = pairs.paired_requests(pair, 0, 1).to_pylist()
    rows[0]["first_token_agrees"] = False
    arm = {"label": "radix", "policy": "radix"}
    names = [trace.name for trace in paired_latencies(pa.Table.from_pylist(rows), arm, arm).data]
    assert "First tokens differ" in names
    assert "First tokens differ" not in [
        t.name for t in paired_latencies(pairs.paired_requests(pair, 0, 1), arm, arm).data
    ]
