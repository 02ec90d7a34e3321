"""The page of the cost shift: credit, cost and net, on each clock."""

from radixflow.app.queries import costs
from radixflow.app.sentences.cost_shift import cost_sentence, cost_sentences, missing_clocks_sentence, shape_sentence
from tests import builders
from tests.app.test_pages import go, texts


def test_the_page_says_what_fewer_rounds_were_worth(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    said = texts(go(open_app(tmp_path), "cost_shift")).replace("\\", "")
    assert (
        "Whole round, host clock: radixflow-immediate runs 2 fewer rounds than radix, worth 175 ns, and a round takes "
        "90.0 ns instead of 87.5 ns, which costs 10.0 ns; net 165 ns of 525 ns saved." in said
    )
    assert "Not measured in both runs: execution, device clock." in said


def test_a_link_opens_the_same_clock(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path)
    app.query_params["clock"] = "Whole round, host clock"
    page = go(app, "cost_shift")
    assert page.segmented_control(key="clock").value == "host_round"


def test_one_run_alone_has_no_shift(tmp_path, open_app):
    builders.one_round_run(tmp_path)
    assert "Two runs over the same offered stream are needed" in texts(go(open_app(tmp_path), "cost_shift"))


def test_the_other_direction_is_said_as_a_loss(pair):
    backwards = costs.shifts(pair, 1, 0).to_pylist()[0]
    said = cost_sentence(backwards)
    assert "radix runs 2 more rounds than radixflow-immediate, at 180 ns" in said
    assert said.endswith("which saves 15.0 ns; net 165 ns of 360 ns lost.")


def test_what_was_not_measured_is_said_to_be(pair):
    shifts = costs.shifts(pair, 0, 1)
    assert "not measured" in cost_sentences(shifts.slice(0, 0))
    assert missing_clocks_sentence(shifts.slice(0, 1)).count(";") == 1
    unknown = shifts.to_pylist()[0] | {"shape_cost_ms": None}
    assert "what fuller batches cost is not measured" in shape_sentence(unknown)
