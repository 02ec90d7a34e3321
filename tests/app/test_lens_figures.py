"""The figures of one round, one request, latencies and costs: by value on the tiny pair."""

from itertools import pairwise

import pyarrow as pa
import pytest

from radixflow.app.figures.blocked.dependency_graph import dependency_graph
from radixflow.app.figures.cost.cost_waterfall import cost_waterfall
from radixflow.app.figures.cost.round_costs import round_costs
from radixflow.app.figures.fullness.waiting_against_executing import waiting_against_executing
from radixflow.app.figures.latency.latency_ecdf import latency_ecdf
from radixflow.app.figures.latency.latency_percentiles import latency_percentiles
from radixflow.app.figures.latency.latency_split import latency_split
from radixflow.app.figures.style.palette import AVOIDABLE
from radixflow.app.queries import blocked, costs, latency, run_facts
from radixflow.app.sentences.cost_shift import CLOCKS
from radixflow.schema.reading.connection import open_runs
from tests import builders
from tests.app.test_figures import COMPLETION, lens, life


def test_the_budget_of_a_round_adds_up_to_its_rows_and_tokens(pair):
    figure, _, _ = lens(pair, 0, 1)
    parts = [(trace.name, trace.y[0], trace.x[0]) for trace in figure.data]
    assert parts == [
        ("Used row", "Rows", 1),
        ("Avoidable bubble", "Rows", 1),
        ("Used row", "Tokens", 48),
        ("Avoidable bubble", "Tokens", 48),
        ("Left of the budget", "Tokens", 32),
    ]
    assert [axis.range[1] for axis in (figure.layout.xaxis, figure.layout.xaxis2)] == [2, 128]


def test_a_scan_adds_up_along_the_budget_and_stops_where_it_stopped(pair):
    _, figure, _ = lens(pair, 0, 1)
    drawn = {trace.name: trace for trace in figure.data if trace.name}
    assert (list(drawn["Selected"].base), list(drawn["Selected"].x)) == ([0], [48])
    ready = drawn["READY behind the stop"]
    assert (list(ready.base), list(ready.x), list(ready.y)) == ([48], [48], [4])
    assert ready.marker.color == (AVOIDABLE,) and list(ready.customdata) == ["b0"]
    waits = drawn["Waiting on a producer"]
    assert (list(waits.x), list(waits.y)) == ([48, 48], [1, 3])
    assert list(waits.marker.symbol) == ["diamond", "diamond-open"]
    lines = [(shape.y0, shape.x0) for shape in figure.layout.shapes]
    assert (1.5, 0) in lines and any(x == 128 for _, x in lines)
    said = " ".join(annotation.text for annotation in figure.layout.annotations)
    assert "budget 128 tokens" in said and "the scan stopped here:</b> a request was blocked" in said
    assert next(each.y for each in figure.layout.annotations if "stopped here" in each.text) == 2


def test_a_scan_that_ended_by_itself_draws_no_stop(pair):
    """The control arm of the test above."""
    _, figure, _ = lens(pair, 0, 6)
    assert not any("stopped here" in annotation.text for annotation in figure.layout.annotations)


def test_few_tokens_of_a_large_budget_can_still_be_seen(tmp_path):
    run = builders.RunBuilder(tmp_path / "run", token_budget=8192)
    run.request("a0")
    run.round(("a0", 48))
    with open_runs([run.write()]) as connection:
        _, figure, _ = lens(connection, 0, 1)
    assert figure.layout.xaxis.range[1] == 120
    assert "far to the right" in figure.layout.annotations[0].text


def test_the_spans_of_a_round_keep_clocks_and_workers_apart(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 48))
    run.rows_of["spans"].append(run.rows_of["spans"][0] | {"clock": "device", "process_rank": 1})
    with open_runs([run.write()]) as connection:
        _, _, figure = lens(connection, 0, 1)
    names = {trace.name: list(trace.y) for trace in figure.data if trace.name}
    assert names == {
        "Host clock": ["schedule (engine)", "execute (worker 0)", "update (engine)"],
        "Device clock (CUDA events)": ["execute (worker 1, device)"],
    }
    assert list(figure.data[0].x) == pytest.approx([10e-6, 60e-6, 10e-6])


def test_many_intervals_of_one_component_are_counted_not_added_up(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 48))
    lookups = [{"component": "lookup", "start_ns": start, "end_ns": start + 2} for start in (1002, 1005, 1008)]
    run.rows_of["spans"] += [run.rows_of["spans"][0] | each for each in lookups]
    with open_runs([run.write()]) as connection:
        _, _, figure = lens(connection, 0, 1)
    words = dict(zip(figure.data[-1].y, (text.strip() for text in figure.data[-1].text), strict=True))
    assert words["lookup (worker 0)"] == "3 intervals" and words["execute (worker 0)"] == "60.0 ns"


def test_the_life_of_a_request_shows_every_round_and_its_producers(pair):
    drawn = {}
    for trace in life(pair, 0, "a2").data:
        drawn.setdefault(trace.name, trace)
    assert list(drawn["Waiting on a producer"].customdata) == [1]
    assert list(drawn["State marked again"].customdata) == [2]
    assert list(drawn["Scheduled"].customdata) == [3]
    assert list(drawn["Waiting"].x) == pytest.approx([250e-6]) and list(drawn["Waiting"].base) == pytest.approx(
        [-50e-6]
    )
    lanes = [trace.y[0] for trace in life(pair, 0, "a2").data if trace.name == "Its producer runs"]
    assert lanes == ["waits for a0", "waits for a1"]


def test_a_request_that_was_left_behind_a_stop_shows_it_in_the_loudest_colour(pair):
    ready = next(trace for trace in life(pair, 0, "b0").data if trace.name == "READY behind the stop")
    assert list(ready.customdata) == [1, 2] and ready.marker.color == AVOIDABLE


def test_a_distribution_steps_from_nothing_to_everything(pair):
    first, second = latency_ecdf(latency.ecdf(pair, *COMPLETION), run_facts.runs(pair), "Latency").data
    assert (first.y[0], first.y[-1]) == (0, 100) and (second.y[0], second.y[-1]) == (0, 100)
    assert list(second.x) == pytest.approx([200e-6, 200e-6, 300e-6, 400e-6, 500e-6])
    assert list(second.y) == pytest.approx([0, 25, 50, 75, 100])


def test_percentiles_stand_beside_each_other_arm_by_arm(pair):
    spans, first, second = latency_percentiles(latency.summary(pair, *COMPLETION), run_facts.runs(pair), "Latency").data
    assert dict(zip(first.y, first.x, strict=True))["Mean"] == pytest.approx(462.5e-6)
    assert dict(zip(second.y, second.x, strict=True))["Median"] == pytest.approx(350e-6)
    assert list(spans.x[:2]) == pytest.approx([350e-6, 462.5e-6])


def test_the_parts_of_a_latency_stack_to_its_mean(pair):
    figure = latency_split(latency.split(pair))
    parts = {trace.name: list(trace.x) for trace in figure.data}
    assert parts["Waiting"] == pytest.approx([312.5e-6, 200e-6])
    assert [sum(each) for each in zip(*parts.values(), strict=True)] == pytest.approx([462.5e-6, 350e-6])


def test_refused_requests_are_diamonds_among_the_waits(pair):
    first = waiting_against_executing(latency.parts(pair), run_facts.runs(pair)).data[0]
    diamonds = {mark[1] for mark, sign in zip(first.customdata, first.marker.symbol, strict=True) if sign == "diamond"}
    assert diamonds == {"a1", "a2", "b2"} and len(first.x) == 8
    assert list(first.x) == pytest.approx([100e-6] * 8)


def test_a_waterfall_leads_from_one_total_to_the_other(pair):
    arms = ({"label": "radix", "policy": "radix"}, {"label": "flow", "policy": "radixflow-immediate"})
    figure = cost_waterfall(costs.shifts(pair, 0, 1), *arms, CLOCKS)
    bars_of = {}
    for trace in figure.data:
        if trace.type == "bar":
            bars_of.setdefault(trace.xaxis, []).append((trace.x[0], trace.y[0] * 1e6, trace.base[0] * 1e6))
    host, execution = bars_of["x"], bars_of["x2"]
    assert [name for name, *_ in host] == ["radix", "2 fewer<br>rounds", "Shape of<br>batches", "Same<br>batch", "flow"]
    assert (host[0][1], host[-1][1], host[1][1]) == (
        pytest.approx(525), pytest.approx(360), pytest.approx(-175))  # fmt: skip
    for steps in (host, execution):
        assert sum(change for _, change, _ in steps[:-1]) == pytest.approx(steps[-1][1])
        for before, after in pairwise(steps[:-1]):
            assert after[2] == pytest.approx(before[2] + before[1])
    assert figure.data[0].marker.color == "#7A7A7A"


def test_a_round_is_as_large_as_its_rows(pair):
    first, second = round_costs(costs.rounds(pair, 0, 1, "host_execute", 1), run_facts.runs(pair)).data
    assert list(first.y) == pytest.approx([60e-6] * 6) and list(first.x) == [48, 16, 64, 16, 64, 48]
    assert list(first.marker.size) == [11.5, 11.5, 18, 11.5, 18, 11.5]
    assert list(second.customdata[0]) == ["radixflow-immediate", 1]


def graph(edges):
    rows = [
        {"run": 0, "producer_request_id": producer, "cause": cause, "consumers": list(names), "num_consumers": count}
        | {"num_visits": 2 * count}
        for producer, cause, names, count in edges
    ]
    return dependency_graph(pa.Table.from_pylist(rows), 0)


def test_the_graph_leads_from_producers_to_those_that_waited(pair):
    figure = dependency_graph(blocked.producers(pair), 0)
    nodes = figure.data[-1]
    place = dict(zip(nodes.customdata, nodes.x, strict=True))
    assert place == {"a0": 0, "a1": 1, "a2": 2, "b1": 0, "b2": 1}
    assert [trace.name for trace in figure.data[:-1]] == ["State being written", "State marked again"]
    assert [trace.line.dash for trace in figure.data[:-1]] == ["solid", "dot"]


def test_no_two_requests_of_the_graph_lie_on_each_other():
    figure = graph([("a", "being_written", "bcd", 12), ("b", "marked_again", "cd", 2), ("x", "marked_again", "cy", 2)])
    nodes = figure.data[-1]
    assert len(set(zip(nodes.x, nodes.y, strict=True))) == len(nodes.customdata) == 6
    assert "12 requests, 3 of them drawn" in nodes.hovertext[list(nodes.customdata).index("a")]


def test_a_circle_of_waits_is_drawn_all_the_same():
    figure = graph([("a", "marked_again", "b", 1), ("b", "marked_again", "a", 1)])
    assert set(figure.data[-1].customdata) == {"a", "b"}
