"""What pages and reports say in words."""

import pyarrow as pa
import pytest

from radixflow.app.queries import run_facts, slot_raster
from radixflow.app.sentences.blocked import blocked_sentence
from radixflow.app.sentences.bubbles import bubble_sentence, level_words
from radixflow.app.sentences.comparison import comparison_sentence
from radixflow.app.sentences.fullness import fullness_sentence
from radixflow.app.sentences.numbers import NUMBERS, written_difference, written_values
from radixflow.app.sentences.run_state import FACTS, run_sentence, state_warnings, written_fact
from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_the_bubbles_of_each_arm_are_counted(pair):
    assert bubble_sentence(slot_raster.window_totals(pair, slot_raster.EVERYTHING)) == (
        "radix left 3 rows unused although work was READY, in 3 of 6 rounds. "
        "radixflow-immediate left no row unused while work was READY, in 4 rounds."
    )


def test_a_window_counts_only_what_is_in_it(pair):
    window = slot_raster.Window("round", 2.5, 4.5)
    assert bubble_sentence(slot_raster.window_totals(pair, window)).startswith(
        "radix left 1 row unused although work was READY, in 1 of 2 rounds."
    )
    beyond = slot_raster.Window("round", 100, 200)
    assert bubble_sentence(slot_raster.window_totals(pair, beyond)).startswith("radix has no round here.")


def test_without_the_probe_nobody_claims_that_nothing_was_avoidable(tmp_path):
    run = builders.RunBuilder(tmp_path / "run", "radix", probe="off")
    run.request("a0")
    run.round(("a0", 48))
    with open_runs([run.write()]) as connection:
        assert "not measured" in bubble_sentence(slot_raster.window_totals(connection, slot_raster.EVERYTHING))
        assert any("without the probe" in warning for warning in state_warnings(run_facts.runs(connection)))


def test_the_other_sentences_of_the_tiny_pair(pair):
    summary = run_facts.run_summary(pair)
    assert "radix met 3 BLOCKED visits of 3 requests; 3 of them were selected later." in blocked_sentence(summary)
    assert "radix fills 1.33 rows and 42.7 tokens a round, 66.7 % of its row slots" in fullness_sentence(summary)
    first = next(row for row in run_facts.paired_summary(pair).to_pylist() if row["run_a"] == 0)
    said = comparison_sentence(first)
    assert said.startswith("radixflow-immediate needs 2 fewer rounds than radix. Its mean latency over 8 pairs is ")
    assert said.endswith("lower. Every first token that both returned is the same.")


def test_an_unobserved_arm_is_not_said_to_have_met_nobody(pair):
    row = run_facts.run_summary(pair).to_pylist()[0] | {"num_blocked_visits": None}
    assert blocked_sentence(pa.Table.from_pylist([row])) == "Whether radix met a blocked request is not measured."


def test_what_is_not_known_is_not_claimed(pair):
    row = run_facts.paired_summary(pair).to_pylist()[0]
    unknown = row | {"mean_latency_difference_ms": None, "first_token_agreement_fraction": None}
    assert "Latency was not measured on both sides. Whether the first tokens agree is not known." in (
        comparison_sentence(unknown)
    )
    differing = row | {"first_token_agreement_fraction": 0.5, "num_first_token_disagreements": 4}
    assert "First tokens agree for 50.0 % of the pairs; they differ for 4 requests." in comparison_sentence(differing)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"engine_kind": "simulated"}, "simulated"),
        ({"state": "incomplete"}, "incomplete"),
        ({"state": "recording"}, "still being recorded"),
        ({"num_drops": 7}, "lost 7 rows"),
        ({"num_faults": 1}, "1 fault"),
        ({"policy_effective": "prefix-stop"}, "ran under prefix-stop"),
    ],
)
def test_every_reason_to_doubt_a_run_is_named(pair, change, word):
    clean = {"engine_kind": "vllm", "state": "complete", "policy_effective": "state-ready"}
    row = run_facts.runs(pair).to_pylist()[1] | clean
    schema = run_facts.runs(pair).schema
    assert state_warnings(schema.empty_table().from_pylist([row], schema)) == []
    (warning,) = state_warnings(schema.empty_table().from_pylist([row | change], schema))
    assert word in warning and warning.startswith("radixflow-immediate")


def test_the_facts_of_a_run_are_all_there(pair):
    run = run_facts.runs(pair).to_pylist()[0]
    assert set(FACTS) <= set(run)
    assert run_sentence(run) == (
        "tiny-hybrid on a simulated engine, 2 rows and 128 tokens a round at most, block size 16 tokens, "
        "8 requests offered."
    )
    assert [written_fact(value) for value in (None, True, 16)] == ["not measured", "yes", "16"]


def test_every_number_is_a_column_of_its_view(pair):
    summary = run_facts.run_summary(pair)
    pairs = run_facts.paired_summary(pair)
    assert {number.column for number in NUMBERS} <= set(summary.column_names)
    assert {number.difference for number in NUMBERS if number.difference} <= set(pairs.column_names)
    rounds = NUMBERS[0]
    assert written_values(rounds, summary.to_pylist()) == ["6", "4"]
    assert written_difference(rounds, pairs.to_pylist()[0]) == "−2"


def test_the_level_is_said_in_words():
    assert level_words("cells", 1) == "Level: one mark a row slot"
    assert level_words("rounds", 8) == "Level: one mark a class and 8 rounds, mean weighted by duration"


def test_a_difference_of_means_shows_its_interval() -> None:
    latency = next(number for number in NUMBERS if number.column == "mean_latency_ms")
    pair = {
        "mean_latency_difference_ms": -256.0,
        "mean_latency_difference_low_ms": -341.0,
        "mean_latency_difference_high_ms": -177.0,
    }
    assert written_difference(latency, pair) == "−256 ms (−341 ms to −177 ms)"
    assert written_difference(latency, pair | {"mean_latency_difference_low_ms": None}) == "−256 ms"
