"""Views of latencies and of how sure their differences are, by value."""
# ruff: noqa: E501 (expected tables are as wide as they are)

import pytest

from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_latencies_of_a_branch_are_the_parts_of_its_life(pair, expect):
    expect(
        pair,
        "latencies WHERE run = 0 AND name = 'b1' ORDER BY interval",
        """
        subject interval              name request_group dataset value_ms
        branch  offered_to_completed  b1   1             made    500
        branch  registered_to_selected b1  1             made    350
        branch  selected_to_completed b1   1             made    100
        branch  sent_to_completed     b1   1             made    500
        branch  sent_to_first_output  b1   1             made    500
        branch  sent_to_registered    b1   1             made    50
        """,
    )
    expect(
        pair,
        "latencies WHERE run = 0 AND subject = 'group' AND name = '1' ORDER BY interval",
        """
        interval             name value_ms
        offered_to_completed 1    600
        sent_to_completed    1    600
        """,
    )


def test_a_first_output_that_nobody_saw_stays_missing(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.request("a1")
    run.round(("a0", 48), ("a1", 48))
    run.finish()
    run.rows_of["offers"][1]["first_output_ns"] = None
    expect(
        open_runs([run.write()]),
        "latency_summary WHERE interval = 'sent_to_first_output' AND dataset IS NULL",
        """
        num_values num_missing mean_ms
        1          1           200
        """,
    )


def test_latency_summary(pair, expect):
    expect(
        pair,
        "latency_summary WHERE interval = 'sent_to_completed' ORDER BY run, subject, dataset NULLS FIRST",
        """
        run subject dataset num_values num_missing mean_ms p50_ms p90_ms p95_ms p99_ms shortest_ms longest_ms
        0   branch  -       8          0           462.5   450    630    665    693    200         700
        0   branch  made    8          0           462.5   450    630    665    693    200         700
        0   group   -       4          0           575     600    670    685    697    400         700
        0   group   made    4          0           575     600    670    685    697    400         700
        1   branch  -       8          0           350     350    500    500    500    200         500
        1   branch  made    8          0           350     350    500    500    500    200         500
        1   group   -       4          0           450     450    500    500    500    400         500
        1   group   made    4          0           450     450    500    500    500    400         500
        """,
    )


def test_latency_ecdf_rises_to_1_over_the_values_that_occur(pair, expect):
    expect(
        pair,
        "latency_ecdf WHERE run = 0 AND subject = 'branch' AND interval = 'sent_to_completed' ORDER BY value_ms",
        """
        value_ms num_values within_fraction
        200      1          0.125
        300      1          0.25
        400      2          0.5
        500      1          0.625
        600      2          0.875
        700      1          1
        """,
    )


def test_paired_groups(pair, expect):
    expect(
        pair,
        "paired_groups WHERE run_a = 0 ORDER BY request_group",
        """
        run_a run_b request_group dataset latency_ms_a latency_ms_b latency_difference_ms
        0     1     0             made    400          400          0
        0     1     1             made    600          400          -200
        0     1     2             made    600          500          -100
        0     1     3             made    700          500          -200
        """,
    )


def two_arms(tmp_path, num_groups, slowed_by):
    """Two arms of as many groups of one branch, alone in a round each; the second arm completes later by ``slowed_by``."""
    paths = []
    for policy in ("radix", "radixflow"):
        run = builders.RunBuilder(tmp_path / policy, policy)
        for group in range(num_groups):
            run.request(f"g{group}", group=group, dataset="long" if group % 2 else "short")
            run.round((f"g{group}", 48))
        run.finish()
        for group, offer in enumerate(run.rows_of["offers"]):
            offer["completed_ns"] += slowed_by(group) if policy == "radixflow" else 0
        paths.append(run.write())
    return open_runs(paths)


def test_an_interval_of_equal_differences_is_a_point_and_turns_around_with_the_pair(tmp_path, expect):
    expect(
        two_arms(tmp_path, 6, lambda group: 10),
        "paired_intervals ORDER BY run_a, dataset NULLS FIRST",
        """
        run_a run_b dataset num_groups num_replicates mean_latency_difference_low_ms mean_latency_difference_high_ms mean_group_latency_difference_low_ms
        0     1     -       6          1000           10                             10                              10
        0     1     long    3          1000           10                             10                              10
        0     1     short   3          1000           10                             10                              10
        1     0     -       6          1000           -10                            -10                             -10
        1     0     long    3          1000           -10                            -10                             -10
        1     0     short   3          1000           -10                            -10                             -10
        """,
    )


def test_the_bootstrap_is_that_of_the_textbook(tmp_path):
    """50 groups, half of them 0 and half 20: the mean 10 has the standard error 10 / sqrt(50) = 1.414."""
    connection = two_arms(tmp_path, 50, lambda group: 20 * (group % 4 < 2))
    query = "SELECT mean_latency_difference_low_ms * 1e6, mean_latency_difference_high_ms * 1e6 FROM paired_intervals WHERE run_a = 0 AND dataset IS NULL"
    ((low, high),) = connection.execute(query).fetchall()
    assert low == pytest.approx(10.4 - 1.96 * 1.414, abs=0.5) and high == pytest.approx(10.4 + 1.96 * 1.414, abs=0.5)
    assert connection.execute(query).fetchall() == [(low, high)]  # seeded


def test_a_single_group_has_no_interval(tmp_path, expect):
    expect(
        two_arms(tmp_path, 1, lambda group: 10),
        "paired_intervals WHERE run_a = 0",
        """
        num_groups num_replicates mean_latency_difference_low_ms reused_tokens_difference_low
        1          -              -                              -
        """,
    )


def test_paired_summary_has_a_difference_for_every_number(pair, expect):
    expect(
        pair,
        "paired_summary WHERE run_a = 0",
        """
        tokens_per_round_difference row_fullness_difference_fraction bubble_rounds_difference blocked_requests_difference finished_requests_difference
        21.3333                     0.333333                         -3                       -1                          0
        """,
    )
    expect(
        pair,
        "paired_summary WHERE run_a = 0",
        """
        p50_latency_difference_ms p95_latency_difference_ms mean_round_difference_ms duration_difference_ms mean_group_latency_difference_ms num_group_pairs
        -100                      -165                      2.5                      -200                   -125                             4
        """,
    )
    expect(
        pair,
        "paired_summary WHERE run_a = 0",
        """
        mean_waiting_difference_ms mean_latency_difference_low_ms mean_latency_difference_high_ms is_comparable num_differences differences
        -112.5                     -200                           -20                             True          0               -
        """,
    )


def test_latency_is_on_the_way_waiting_and_executing(pair, expect):
    expect(
        pair,
        "latency_parts WHERE run = 0 AND request_id IN ('a0', 'a2', 'd0') ORDER BY request_id",
        """
        request_id sending_ms waiting_ms executing_ms latency_ms waiting_fraction num_blocked_visits
        a0         50         50         100          200        0.25             0
        a2         50         250        100          400        0.625            1
        d0         50         550        100          700        0.785714         0
        """,
    )
    expect(
        pair,
        "latency_split ORDER BY run",
        """
        run num_requests mean_sending_ms mean_waiting_ms mean_executing_ms mean_latency_ms waiting_fraction
        0   8            50              312.5           100               462.5           0.675676
        1   8            50              200             100               350             0.571429
        """,
    )
