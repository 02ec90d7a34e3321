"""The page of sensitivity and load: it speaks of a whole experiment, whatever stream is chosen in the sidebar."""

import json

import pytest

from radixflow.app.figures.latency.load_curve import load_curve
from radixflow.app.figures.pairs.gains_by_stream import gains_by_stream
from radixflow.app.queries import run_facts, sensitivity
from radixflow.app.queries.run_catalog import experiment_of, list_runs
from radixflow.app.sentences.sensitivity import doubts, experiment_sentence, gain_sentence
from radixflow.schema.reading.connection import open_nothing, open_runs
from tests import builders
from tests.app.test_pages import figures, go, texts

ARMS = ("radix", "radixflow-immediate")


def sweep(root):
    """Write the tiny pair as three streams: mixed in two orders, and cold, where the second arm is no better."""
    paths = []
    for number, (regime, order) in enumerate((("mixed", "shuffled"), ("mixed", "grouped"), ("cold", "shuffled"))):
        first, second = builders.tiny_pair(root / str(number))
        if regime == "cold":
            second = builders.prefix_stop_run(root / str(number) / "same")
        for path, policy in zip((first, second), ARMS, strict=True):
            manifest = json.loads((path / "manifest.json").read_text())
            manifest |= {"stream": f"{regime}-{order}", "policy": policy, "policy_effective": policy}
            manifest["workload"] |= {"digest": f"{number}f" * 32, "regime": regime, "input_order": order, "rate": 4.0}
            (path / "manifest.json").write_text(json.dumps(manifest))
        paths += [first, second]
        if regime == "cold":
            (root / str(number) / "tiny" / "figure-2" / ARMS[1] / "manifest.json").unlink()
    return paths


@pytest.fixture
def experiment(tmp_path):
    with open_runs(sweep(tmp_path)) as connection:
        yield connection


def test_gains_stand_stream_by_stream(experiment):
    figure = gains_by_stream(sensitivity.gains(experiment, *ARMS), ARMS[1])
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    rounds, latency = (dict(zip(trace.y, trace.x, strict=True)) for trace in marks)
    assert rounds == {
        "cold · shuffled · 4 groups/s": 0,
        "mixed · grouped · 4 groups/s": pytest.approx(100 / 3),
        "mixed · shuffled · 4 groups/s": pytest.approx(100 / 3),
    }
    assert latency["mixed · grouped · 4 groups/s"] == pytest.approx(100 * 112.5 / 462.5)


def test_the_gain_over_all_streams_is_said_with_its_range(experiment):
    said = gain_sentence(sensitivity.summary(experiment, *ARMS), *ARMS)
    assert said.startswith("radixflow-immediate against radix over 3 streams: it saves 22.2 % of the rounds on average")
    assert "(0 % to 33.3 %)" in said
    backwards = gain_sentence(sensitivity.summary(experiment, *reversed(ARMS)), *reversed(ARMS))
    assert "it adds" in backwards


def test_points_of_one_kind_of_stream_are_joined(experiment):
    runs = sensitivity.load(experiment).to_pylist()
    for number, row in enumerate(runs):
        row["offered_per_second"] = 10.0 + number
    table = sensitivity.load(experiment).schema.empty_table().from_pylist(runs, sensitivity.load(experiment).schema)
    lines = [trace for trace in load_curve(table).data if trace.name in ARMS]
    assert len(lines) == 3 * 6  # three panels, two policies, three kinds of stream
    assert sum(trace.showlegend for trace in lines) == 2
    filled = [trace for trace in lines if trace.xaxis == "x3"]
    assert {round(trace.y[0], 1) for trace in filled} == {66.7, 100}


def test_nothing_to_draw_is_said_in_a_sentence():
    with open_nothing() as connection:
        for figure in (
            gains_by_stream(sensitivity.gains(connection, *ARMS), "x"),
            load_curve(sensitivity.load(connection)),
        ):
            (annotation,) = figure.layout.annotations
            assert annotation.text.endswith(".") and not figure.data


def test_the_page_opens_every_stream_of_the_experiment(tmp_path, open_app):
    sweep(tmp_path)
    page = go(open_app(tmp_path), "sensitivity")
    said = texts(page).replace("\\", "")
    assert not page.exception
    assert "All 6 runs of experiment tiny: 2 policies over 3 streams." in said
    assert "6 of 6 runs are simulated" in said
    assert "radixflow-immediate against radix over 3 streams" in said
    assert figures(page)[0]["data"]


def test_a_link_opens_the_same_policies(tmp_path, open_app):
    sweep(tmp_path)
    app = open_app(tmp_path)
    app.query_params["policies"] = "radix against radixflow-immediate"
    assert "radix against radixflow-immediate over 3 streams: it adds" in texts(go(app, "sensitivity")).replace(
        "\\", ""
    )


def test_runs_of_another_experiment_stay_out(tmp_path):
    sweep(tmp_path)
    run = builders.RunBuilder(tmp_path / "other" / "s" / "radix", "radix", experiment="other")
    run.request("a0")
    run.round(("a0", 48))
    run.write()
    choices = list_runs(str(tmp_path)).choices
    mine = next(choice.path for choice in choices if choice.experiment == "tiny")
    assert len(choices) == 7 and len(experiment_of(choices, mine)) == 6


def test_runs_that_were_left_out_are_counted(experiment):
    runs = run_facts.runs(experiment)
    assert "All 6 runs (the first of 99) of experiment tiny" in experiment_sentence(runs, 99)
    assert experiment_sentence(runs.slice(0, 0), 0) == "No run of this experiment can be read."
    assert doubts(runs) == ["6 of 6 runs are simulated: their durations are not measured on an engine."]
