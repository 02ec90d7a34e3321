"""A run that keeps a sample of its rounds: rates are those of the kept rounds, and no sum takes a sample for the whole.

The stream is that of the prefix-stop arm; of its six rounds the first and the fourth are kept.
"""

import pytest

from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from tests import builders
from tests.sampled_builder import sampled_run

ROUND_TOTALS = """
run_summary rows_avoidable
run_summary tokens_avoidable
run_summary num_bubble_rounds
run_summary duration_ms
slot_ledger num_slots
slot_ledger slot_ms
stop_reasons num_rounds
stop_reasons rows_avoidable
stop_reasons tokens_avoidable
fullness_distribution num_rounds
cost_summary num_rounds
cost_summary num_rounds_unmeasured
cost_summary num_tokens
cost_summary total_ms
token_ledger num_tokens_repeated_after_preemption
visit_outcomes num_visits
request_waits num_rounds_waited
request_waits num_deferrals
request_waits num_held_visits
request_waits num_other_visits
blocked_requests num_being_written_visits
blocked_requests num_marked_again_visits
blocked_requests num_producers
blocked_requests num_rounds_blocked
blocked_requests blocked_ms
blocking_causes num_visits
blocking_causes num_probe_visits
blocking_causes num_rounds
blocking_causes num_tokens_lost
blocking_causes num_rounds_stopped
blocking_causes stopped_ms
blocking_causes num_bubble_rounds
blocking_causes rows_avoidable
blocking_causes tokens_avoidable
restored_summary num_restored_states
restored_summary num_in_flight
host_times gaps_ms
host_times gap_fraction
blocking_recovery num_visits
blocking_recovery num_visits_selected_next
blocking_recovery most_rounds_until_selected
reuse_summary num_refused_requests
reuse_summary num_matched_tokens
reuse_summary num_unready_tokens
reuse_summary num_tokens_reused_after_refusal
round_times gap_before_ms
"""
"""View and column that would need every round."""


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """The sampled run, opened alone."""
    connection = open_runs([sampled_run(tmp_path_factory.mktemp("sampled"))])
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The same run with every round."""
    connection = open_runs([builders.prefix_stop_run(tmp_path_factory.mktemp("whole") / "radix")])
    yield connection
    connection.close()


@pytest.mark.parametrize("place", ROUND_TOTALS.split("\n")[1:-1])
def test_what_needs_every_round_is_not_known(sampled, whole, place):
    view, column = place.split()
    ((rows, known),) = sampled.execute(f"SELECT count(*), count({column}) FROM {view}").fetchall()
    assert rows and not known
    ((known,),) = whole.execute(f"SELECT count({column}) FROM {view}").fetchall()  # the control arm
    assert known


def test_counts_of_the_recorder_are_exact_and_means_are_those_of_the_kept_rounds(sampled, whole, expect):
    columns = "num_rounds rows_per_round tokens_per_round num_scheduled_tokens num_blocked_visits num_requests_finished"
    exact = columns + "\n6 1.33333 42.6667 256 3 8"
    expect(sampled, "run_summary", exact)
    expect(whole, "run_summary", exact)
    expect(
        sampled, "run_summary",
        """sampled_fraction num_rounds_kept bubble_round_fraction avoidable_rows_per_round
           0.25             2               1                     1""",
    )  # fmt: skip
    expect(
        whole, "run_summary",
        """sampled_fraction num_rounds_kept bubble_round_fraction avoidable_rows_per_round
           -                6               0.5                   0.5""",
    )  # fmt: skip


def test_what_requests_say_of_themselves_stays_exact(sampled, whole, expect):
    waits = """request_id waited_ms num_blocked_visits is_selected num_overtakes
               a0         50        0                  True        0
               a1         150       1                  True        0
               a2         250       1                  True        0
               b0         250       0                  True        0
               b1         350       0                  True        0
               b2         450       1                  True        0
               c0         450       0                  True        0
               d0         550       0                  True        0"""
    expect(sampled, "(FROM request_waits ORDER BY request)", waits)
    expect(whole, "(FROM request_waits ORDER BY request)", waits)


def test_shares_are_those_of_the_kept_rounds(sampled, expect):
    expect(sampled, "stop_reasons", "stop_reason rounds_fraction num_rounds_kept\nblocked 1 2")
    expect(
        sampled, "(FROM blocking_causes ORDER BY cause)",
        "cause stopped_rounds_fraction\nbeing_written 0.5\nmarked_again 0.5",
    )  # fmt: skip
    expect(sampled, "slot_ledger WHERE num_slots IS NULL AND slot_class = 'avoidable'", "slot_fraction\n0.5")


def test_who_waited_for_whom_is_counted_over_the_kept_rounds(sampled, expect):
    expect(
        sampled, "awaited_producers ORDER BY producer_rank",
        "producer_request_id cause num_visits num_consumers first_round last_round\n"
        "a0 being_written 2 2 1 1\nb1 marked_again 1 1 4 4",
    )  # fmt: skip


def test_views_that_would_compare_what_is_missing_are_empty(sampled):
    for view in ("capacity_bound", "repeated_intervals WHERE cause = 'preemption'"):
        assert sampled.execute(f"SELECT count(*) FROM {view}").fetchall() == [(0,)]


def test_a_sample_has_no_faults(tmp_path):
    assert check_run(sampled_run(tmp_path)) == []


def test_a_sample_that_holds_more_than_was_counted_is_a_fault(tmp_path):
    run = sampled_run(tmp_path)
    manifest = (run / "manifest.json").read_text()
    (run / "manifest.json").write_text(manifest.replace('"rounds": 6', '"rounds": 3'))
    assert "Round 4 is there, but only 3 rounds are counted." in " ".join(map(str, check_run(run)))


def test_the_same_files_without_the_word_of_the_sample_are_faulty(tmp_path):
    run = sampled_run(tmp_path)
    manifest = (run / "manifest.json").read_text()
    (run / "manifest.json").write_text(manifest.replace('"rounds_fraction": 0.25,', ""))
    sentences = " ".join(map(str, check_run(run)))
    assert "Round 4 follows round 1." in sentences
    assert "a2 says 1 rows, rows has 0." in sentences


def test_a_request_selected_before_the_recording_is_in_no_ledger_and_waits_for_nothing(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "e" / "served-0002" / "radix", "radix", client=False)
    run.request("a0", first_selected_ns=990, num_reused_tokens=0)
    run.round(("a0", 20))
    run.finish()
    run.rows_of["requests"][0] |= {
        "outcome": "continued", "num_reused_tokens": None, "first_selected_round": None, "finished_ns": 1090,
    }  # fmt: skip
    run.rows_of["rows"][0]["kind"] = "running"
    path = run.write()
    assert check_run(path) == []
    connection = open_runs([path])
    expect(connection, "run_summary", "num_requests_finished num_prompt_tokens num_reused_tokens\n1 0 0")
    assert connection.execute("SELECT count(*) FROM request_waits").fetchall() == [(0,)]
    assert connection.execute("SELECT count(*) FROM token_ledger").fetchall() == [(0,)]
    connection.close()
