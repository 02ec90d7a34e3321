"""Numbers of the paper on the pages where their users look: the capacity bound, the output audit, causes, recovery."""

import pytest

from radixflow.app.figures.fullness.tokens_distribution import tokens_distribution
from radixflow.app.queries import blocked, costs, fullness, pairs, run_facts, sensitivity, tokens
from radixflow.app.sentences.blocked import causes_sentence
from radixflow.app.sentences.bubbles import bubble_sentence
from radixflow.app.sentences.cost_shift import host_sentence
from radixflow.app.sentences.fullness import bound_sentence
from radixflow.app.sentences.outputs import audit_sentence
from radixflow.app.sentences.reasons import outcomes_in_words
from radixflow.app.sentences.tokens import restored_sentence
from radixflow.schema.reading.connection import open_runs
from tests import builders
from tests.app.test_pages import figures, go, texts
from tests.sampled_builder import sampled_run


def answering(root, *tokens, requests=None):
    """Write one arm a list of first tokens; the requests of an arm are a0, a1, ..., or as many others as told."""
    paths = []
    for policy, own in zip(("radix", "radixflow"), tokens, strict=True):
        run = builders.RunBuilder(root / "tiny" / "answers" / policy, policy, stream="answers")
        names = requests or {}
        for number, token in enumerate(own):
            name = f"{names.get(policy, 'a')}{number}"
            run.request(name, first_token_id=token, dataset="long" if number == 1 else "short")
            run.round((name, 48))
        paths.append(run.write())
    return paths


def said_of(paths):
    with open_runs(paths) as connection:
        audit = pairs.output_audit(connection, 0, 1)
        return audit_sentence(audit, pairs.first_token_disagreements(connection, 0, 1), "radix", "radixflow")


def test_the_audit_says_how_many_could_be_compared_and_which_differ(tmp_path):
    assert said_of(answering(tmp_path, (1, 2, 3), (1, 9, None))) == (
        "The first tokens of 2 of 3 shared requests can be compared; the others are not measured in one run or "
        "both. "
        "1 of 2 agree (50.0 %), 1 differs: a1."
    )


def test_many_differing_requests_are_not_all_named(tmp_path):
    said = said_of(answering(tmp_path, (1,) * 7, (2,) * 7))
    assert said.endswith("0 of 7 agree (0 %), 7 differ: a0, a1, a2, a3, a4 and others.")


def test_all_that_agree_are_counted(tmp_path):
    assert said_of(answering(tmp_path, (1, 2), (1, 2))) == (
        "The first tokens of all 2 shared requests can be compared. 2 of 2 agree."
    )


def test_nothing_compared_is_not_measured_and_no_agreement(tmp_path):
    said = said_of(answering(tmp_path / "known", (1, 2), (None, None)))
    assert said == (
        "Whether radixflow answers as radix does is not measured: of 2 shared requests none has a first token recorded "
        "in both runs."
    )
    said = said_of(answering(tmp_path / "shared", (1,), (1,), requests={"radixflow": "b"}))
    assert said == "Whether radixflow answers as radix does is not measured: no request was recorded in both runs."


def test_the_page_compare_shows_the_audit_by_dataset_and_the_warning_of_near_ties(tmp_path, open_app):
    answering(tmp_path, (1, 2, 3), (1, 9, None))
    page = go(open_app(tmp_path), "compare")
    said = texts(page).replace("\\", "")
    assert "1 of 2 agree (50.0 %), 1 differs: a1." in said and "near-tie" in said and "bfloat16" in said
    audit, differing = (each.value for each in page.dataframe[1:3])
    assert audit[["dataset", "num_compared", "num_agreeing", "num_disagreeing"]].to_dict("list") == {
        "dataset": ["all", "long", "short"],
        "num_compared": [2, 1, 1],
        "num_agreeing": [1, 0, 1],
        "num_disagreeing": [1, 1, 0],
    }
    assert differing[["request_id", "first_token_id_a", "first_token_id_b"]].to_dict("list") == {
        "request_id": ["a1"],
        "first_token_id_a": [2],
        "first_token_id_b": [9],
    }


def test_the_bound_of_each_arm_is_said_with_what_it_rests_on(pair):
    assert bound_sentence(fullness.capacity_bound(pair), run_facts.run_summary(pair)) == (
        "The work of radix needs 4 rounds for its rows and 2 for its tokens, so no fewer than 4; it took 6, 1.50 "
        "times as many. The work of radixflow-immediate needs 4 rounds for its rows and 2 for its tokens, so no "
        "fewer than 4; it took 4, as few as that."
    )


@pytest.mark.parametrize(
    ("make", "why"),
    [(sampled_run, "radix is not measured: it keeps a sample of its rounds"),
     (builders.empty_run, "empty is not measured: it recorded no round")],
)  # fmt: skip
def test_a_bound_that_is_not_known_has_its_reason(tmp_path, make, why):
    with open_runs([make(tmp_path)]) as connection:
        said = bound_sentence(fullness.capacity_bound(connection), run_facts.run_summary(connection))
    assert said == f"How few rounds could hold the work of {why}."


def test_an_engine_that_was_not_observed_has_no_bound(pair):
    unseen = run_facts.run_summary(pair).slice(0, 1).to_pylist()[0] | {"num_rounds": None}
    none = fullness.capacity_bound(pair).slice(0, 0)
    table = run_facts.run_summary(pair).schema.empty_table().from_pylist([unseen])
    assert "is not measured: its engine was not observed." in bound_sentence(none, table)


def test_rounds_by_tokens_stand_over_their_twentieth(pair):
    figure = tokens_distribution(fullness.tokens_distribution(pair), run_facts.runs(pair))
    places = dict(zip(figure.data[0].x, figure.data[0].y, strict=True))
    assert {round(x, 9): y for x, y in places.items()} == {12.5: 2, 37.5: 2, 52.5: 2}
    assert figure.data[0].hovertext[0] == "<b>radix</b><br>2 rounds with 10.0 % to 15.0 % of the token budget"
    assert "%" in figure.layout.xaxis.title.text and "number" in figure.layout.yaxis.title.text


def test_looks_are_in_words_by_who_looked(pair):
    words = outcomes_in_words(fullness.visit_outcomes(pair)).to_pylist()
    assert {(row["looked_at_by"], row["what_was_found"], row["num_visits"]) for row in words[:4]} == {
        ("the scan", "BLOCKED: its state, published before, is only marked again", 2),
        ("the scan", "BLOCKED: its state is being written", 1),
        ("the probe behind its stop", "READY behind the stop of the scan", 3),
        ("the probe behind its stop", "BLOCKED: its state is being written", 1),
    }


def test_a_look_of_unknown_cause_is_said_to_be(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.request("a1")
    run.round(("a0", 48), visits=(builders.blocked("a1", "a0"), builders.other("a1", "kv_blocks")))
    run.rows_of["visits"][0]["cause"] = None
    with open_runs([run.write()]) as connection:
        found = outcomes_in_words(fullness.visit_outcomes(connection))["what_was_found"].to_pylist()
    assert set(found) == {"BLOCKED: what its state was doing is not recorded", "too few KV cache blocks were free"}


def test_the_slot_ledger_stands_in_rows_and_in_time(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    page = go(open_app(tmp_path), "round_fullness")
    ledger = page.dataframe[-1].value
    avoidable = ledger[(ledger["label"] == "radix") & (ledger["slot_class"] == "avoidable")].iloc[0]
    assert (avoidable["num_slots"], avoidable["slot_fraction"]) == (3, 0.25)
    assert avoidable["slot_ms"] == pytest.approx(255e-6)
    assert page.dataframe[0].value["least_rounds"].to_list() == [4, 4]
    assert len(figures(page)) == 5


def test_causes_are_said_with_what_lay_behind_their_stops(pair):
    said = causes_sentence(blocked.causes(pair), run_facts.runs(pair))
    assert (
        "radix: a state marked again stops the scan of 2 rounds (170 ns together); 2 rows behind it could have" in said
    )
    assert "radixflow-immediate: a state being written refuses 2 requests and stops no scan." in said


def test_behind_a_stop_without_a_probe_nothing_is_known(tmp_path):
    run = builders.RunBuilder(tmp_path / "run", probe="off")
    run.request("a0")
    run.request("a1")
    run.round(("a0", 48), visits=(builders.blocked("a1", "a0"),), stop="blocked", stop_request="a1")
    with open_runs([run.write()]) as connection:
        said = causes_sentence(blocked.causes(connection), run_facts.runs(connection))
    assert said.endswith("what lay behind is not measured, since the probe was off.")


def test_a_sample_says_shares_of_the_rounds_that_it_keeps(tmp_path):
    with open_runs([sampled_run(tmp_path)]) as connection:
        said = causes_sentence(blocked.causes(connection), run_facts.runs(connection))
        bubbles = bubble_sentence(run_facts.run_summary(connection))
        restored = restored_sentence(tokens.restored(connection))
        host = host_sentence(costs.host_times(connection))
    assert said.startswith("radix: a state being written stops the scan of 50.0 % of the rounds that were kept.")
    assert bubbles == "radix left 1 rows a round unused although work was READY, in 100 % of the rounds that it keeps."
    assert "is not measured: it keeps a sample" in restored
    assert "the time between rounds is not measured: no two rounds in a row are there." in host


def test_recovered_rows_stand_on_the_page_of_blocked_requests(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    page = go(open_app(tmp_path), "blocked")
    tables = {tuple(each.value.columns): each.value for each in page.dataframe}
    (recovered,) = (table for columns, table in tables.items() if "num_rounds_blocked" in columns)
    assert recovered["request_id"].to_list() == ["a1", "a2", "b2"]
    assert recovered["round"].to_list() == [2, 3, 5] and recovered["num_rounds_blocked"].to_list() == [1, 1, 1]


def test_what_a_round_costs_the_host_is_said(pair):
    said = host_sentence(costs.host_times(pair))
    assert said.startswith(
        "radix: native scheduling takes 10.0 ns a round, execution 60.0 ns; 10.0 ns pass on average between two "
        "rounds, waiting for work included: 8.47 % of the run."
    )
    without = costs.host_times(pair).to_pylist()[0] | {"mean_execute_ms": None}
    table = costs.host_times(pair).schema.empty_table().from_pylist([without])
    assert "execution is not measured, since no worker wrote spans" in host_sentence(table)
    assert "not measured: no round was recorded" in host_sentence(table.slice(0, 0))


def test_states_in_flight_are_said(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    for name in ("a0", "a1"):
        run.request(name)
        run.round((name, 48))
    run.finish()
    run.rows_of["rows"][0]["published_hash"] = run.rows_of["rows"][1]["restored_hash"] = 7
    run.rows_of["rounds"][0] |= {"update_start_ns": 1150, "update_end_ns": 1160}
    with open_runs([run.write()]) as connection:
        assert restored_sentence(tokens.restored(connection)) == (
            "radix restored 1 state, half of them at most 1 round after they were published; the output of 1 was still "
            "on its way when the restoring round was scheduled."
        )


def test_each_policy_stands_over_all_its_streams(pair):
    rows = sensitivity.arms(pair).to_pylist()
    assert [(row["policy"], row["scope"], row["scope_value"], row["num_rounds"]) for row in rows[:2]] == [
        ("radix", "all", "every stream", 6),
        ("radixflow-immediate", "all", "every stream", 4),
    ]
