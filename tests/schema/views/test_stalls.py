"""The numbers of stalls, by value, on a run made by hand; and why one is missing."""

import json

import pytest

from radixflow.schema.reading.connection import open_runs
from tests import builders
from tests.sampled_builder import sampled_run
from tests.stalled_builder import add_stall, stalled_builder, stalled_run


def test_each_stall_has_its_time_kind_and_names(tmp_path, expect):
    expect(
        open_runs([stalled_run(tmp_path)]),
        "stall_times",
        """
        start_ms end_ms duration_ms num_steps round_before head_request_id stop_cause       kind
        -200     -100   100         10        -            b0              parked_sessions  stalled
        91       93     2           3         1            b0              held             held
        94       96     2           1         1            giant           larger_than_pool awaits_output
        1000     5000   4000        5         2            giant           larger_than_pool stalled""",
    )


def test_the_summary_keeps_apart_what_is_meant_to_be(tmp_path, expect):
    expect(
        open_runs([stalled_run(tmp_path)]),
        "stall_summary",
        """
        num_stalls num_stalled_steps stalled_ms longest_stall_ms num_steps_held num_steps_awaiting_output
        2          15                4100       4000             3              1""",
    )
    expect(open_runs([stalled_run(tmp_path / "again")]), "stall_summary", "stalled_fraction\n0.788462")


def test_reasons_come_with_their_numbers(tmp_path):
    with open_runs([stalled_run(tmp_path)]) as connection:
        found = connection.execute("""
            SELECT kind, stop_reason, stop_cause, head_request_id, num_stalls, num_steps, first_round_before,
                most_waiting
            FROM stall_reasons ORDER BY first_start_ms""").fetchall()
    assert found == [
        ("stalled", "row_capacity", "parked_sessions", "b0", 1, 10, None, 2),
        ("held", "end_of_queue", "held", "b0", 1, 3, 1, 2),
        ("stalled", "full_prompt_reservation", "larger_than_pool", "giant", 1, 5, 2, 7),
    ]


def test_steps_after_the_last_round_are_counted(tmp_path, expect):
    """10 before round 1, 4 before round 2, and the 5 of the stall behind it."""
    expect(open_runs([stalled_run(tmp_path)]), "run_summary", "num_rounds num_empty_steps\n2 19")


def test_what_the_engine_counted_holds_idle_steps_as_well(tmp_path, expect):
    path = stalled_run(tmp_path)
    status = path / "writers" / "engine.json"
    status.write_text(json.dumps(json.loads(status.read_text()) | {"num_empty_steps": 23}))
    expect(open_runs([path]), "run_summary", "num_empty_steps\n23")


def test_without_any_stall_the_numbers_are_zero_and_there_is_no_longest(tmp_path):
    with open_runs([builders.one_round_run(tmp_path)]) as connection:
        found = connection.execute("SELECT * EXCLUDE (run, label) FROM stall_summary").fetchall()
    assert found == [(0, 0, 0.0, None, 0, 0.0, 0, None, None)]


def without_stalls(root):
    """A recording of a release that did not know stalls: its engine does not say that it records them."""
    path = builders.one_round_run(root)
    for status in (path / "writers").glob("*.json"):
        said = json.loads(status.read_text())
        said.pop("records_stalls")
        status.write_text(json.dumps(said))
    return path


def unobserved(root):
    path = builders.one_round_run(root)
    (path / "writers" / "engine.json").unlink()
    return path


@pytest.mark.parametrize(
    ("make", "why"),
    [(without_stalls, "it was recorded without stalls"), (unobserved, "its engine was not observed")],
)
def test_numbers_that_nobody_took_are_null_with_the_reason(tmp_path, make, why):
    with open_runs([make(tmp_path)]) as connection:
        found = connection.execute("SELECT * EXCLUDE (run, label) FROM stall_summary").fetchall()
    assert found == [(None, None, None, None, None, None, None, why, why)]


def test_a_sample_has_its_stalls_and_says_why_it_has_no_share(tmp_path):
    with open_runs([sampled_run(tmp_path)]) as connection:
        found = connection.execute("""
            SELECT num_stalls, stalled_ms, stalled_fraction, num_steps_awaiting_output, why_not_measured, why_no_share
            FROM stall_summary""").fetchall()
    assert found == [(0, 0.0, None, None, None, "it keeps a sample of its rounds")]


def test_the_time_of_a_run_without_rounds_begins_with_its_first_stall(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("giant")
    add_stall(run, "giant", 5000, 9000)
    with open_runs([run.write()]) as connection:
        assert connection.execute("SELECT start_ms, end_ms FROM stall_times").fetchall() == [(0.0, 0.004)]
        assert connection.execute("SELECT num_rounds, num_empty_steps FROM run_summary").fetchall() == [(0, 10)]


def test_a_run_with_stalls_is_right(tmp_path):
    from radixflow.schema.checking.check import check_run

    assert check_run(stalled_builder(tmp_path / "run").write()) == []
