"""Views of rounds, by value."""

from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_round_clock_leaves_out_probe_and_recorder(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.request("a1")
    run.round(("a0", 48), recorder_ns=3, probe_ns=7)
    run.round(("a1", 16), finishes=False, update_start_ns=None, update_end_ns=None)
    run.round(("a1", 32), update_end_ns=1230, duration_ns=500)
    run.finish()
    del run.rows_of["spans"][2]
    run.rows_of["spans"].append({**run.rows_of["spans"][1], "process_rank": 1, "start_ns": 1115, "end_ns": 1195})
    run.rows_of["spans"].append({**run.rows_of["spans"][1], "clock": "device", "end_ns": 9999})
    run.rows_of["spans"].append({**run.rows_of["spans"][1], "component": "sample", "end_ns": 9999})
    expect(
        open_runs([run.write()]),
        "round_clock ORDER BY round",
        """
        run round start_ns end_ns host_end_ns schedule_ns execute_ns observer_ns origin_ns
        0   1     1000     1080   1090        10          60         10          1000
        0   2     1100     1195   1195        10          80         0           1000
        0   3     1200     1230   1230        10          -          0           1000
        """,
    )


def test_a_round_never_ends_before_its_schedule(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 48), recorder_ns=500)
    expect(
        open_runs([run.write()]),
        "round_clock",
        """
        start_ns end_ns host_end_ns
        1000     1010   1090
        """,
    )


def test_round_times(pair, expect):
    expect(
        pair,
        "round_times WHERE run = 0 ORDER BY round",
        """
        round start_ns end_ns start_ms end_ms duration_ms schedule_ms execute_ms gap_before_ms observer_ms
        1     1000     1085   0        85     85          10          60         -             5
        2     1100     1185   100      185    85          10          60         10            5
        3     1200     1290   200      290    90          10          60         10            0
        4     1300     1385   300      385    85          10          60         10            5
        5     1400     1490   400      490    90          10          60         10            0
        6     1500     1590   500      590    90          10          60         10            0
        """,
    )


def test_host_times(pair, expect):
    expect(
        pair,
        "host_times ORDER BY run",
        """
        run num_rounds_kept mean_schedule_ms mean_execute_ms mean_observer_ms num_gaps mean_gap_ms p50_gap_ms longest_gap_ms gaps_ms gap_fraction
        0   6               10               60              2.5              5        10          10         10             50      0.0847458
        1   4               10               60              0                3        10          10         10             30      0.0769231
        """,  # noqa: E501
    )


def test_without_workers_or_a_second_round_execution_and_gaps_are_unknown(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 48))
    run.rows_of["spans"].clear()
    expect(
        open_runs([run.write()]),
        "host_times",
        "num_rounds_kept mean_execute_ms num_gaps mean_gap_ms gaps_ms gap_fraction\n1 - 0 - - -",
    )


def test_overlapping_rounds_have_no_gap(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 16), duration_ns=50)
    run.round(("a0", 32))
    expect(
        open_runs([run.write()]),
        "round_times ORDER BY round",
        """
        round start_ms end_ms gap_before_ms
        1     0        90     -
        2     50       140    0
        """,
    )


def test_round_occupancy(pair, expect):
    expect(
        pair,
        "round_occupancy WHERE run = 0 ORDER BY round",
        """
        round start_ms end_ms duration_ms row_capacity rows_used rows_avoidable rows_no_work row_fullness_fraction
        1     0        85     85          2            1         1              0            0.5
        2     100      185    85          2            1         1              0            0.5
        3     200      290    90          2            2         0              0            1
        4     300      385    85          2            1         1              0            0.5
        5     400      490    90          2            2         0              0            1
        6     500      590    90          2            1         0              1            0.5
        """,
    )
    expect(
        pair,
        "round_occupancy WHERE run = 0 ORDER BY round",
        """
        token_budget tokens_scheduled tokens_avoidable token_fullness_fraction num_free_blocks num_empty_steps
        128          48               48               0.375                   99              0
        128          16               48               0.125                   98              0
        128          64               0                0.5                     97              0
        128          16               48               0.125                   96              0
        128          64               0                0.5                     95              0
        128          48               0                0.375                   94              0
        """,
    )
    expect(
        pair,
        "round_occupancy WHERE run = 0 ORDER BY round",
        """
        num_visits num_blocked_visits num_probed stop_reason  stop_request_id num_waiting_before num_waiting_after
        2          1                  2          blocked      a1              8                  7
        2          1                  1          blocked      a2              7                  6
        2          0                  0          row_capacity -               6                  4
        2          1                  1          blocked      b2              4                  3
        2          0                  0          row_capacity -               3                  1
        1          0                  0          end_of_queue -               1                  0
        """,
    )


def test_round_occupancy_keeps_every_class_apart(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", row_capacity=7)
    for name in ("used", "blocked", "ready", "held", "short", "full"):
        run.request(name)
    visits = (
        builders.blocked("blocked", "used"),
        builders.held("held"),
        builders.other("short", "token_budget"),
        builders.other("full", "kv_blocks"),
        builders.ready("ready", 48),
    )
    run.round(("used", 48), visits=visits, stop="kv_blocks", stop_request="full")
    expect(
        open_runs([run.write()]),
        "round_occupancy",
        """
        rows_used rows_avoidable rows_dependency_wait rows_held rows_token_limited rows_other rows_no_work num_held
        1         1              1                    1         1                  1          1            1
        """,
    )


def test_stop_reasons(pair, expect):
    expect(
        pair,
        "stop_reasons ORDER BY run, stop_reason",
        """
        run label               stop_reason  num_rounds rows_avoidable tokens_avoidable
        0   radix               blocked      3          3              144
        0   radix               end_of_queue 1          0              0
        0   radix               row_capacity 2          0              0
        1   radixflow-immediate end_of_queue 1          0              0
        1   radixflow-immediate row_capacity 3          0              0
        """,
    )


def test_without_a_probe_avoidable_rows_are_unknown(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", probe="off")
    run.request("a0")
    run.round(("a0", 48))
    connection = open_runs([run.write()])
    expect(
        connection,
        "stop_reasons",
        """
        stop_reason  num_rounds rows_avoidable tokens_avoidable
        end_of_queue 1          -              -
        """,
    )
    expect(
        connection,
        "run_summary",
        """
        num_rounds rows_avoidable tokens_avoidable num_bubble_rounds bubble_round_fraction
        1          -              -                -                 -
        """,
    )
