"""Views of one round and of one request, by value."""

from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_round_scan_tells_the_stop_and_what_lay_behind_it(pair, expect):
    rounds = "round_scan WHERE run = 0 AND round <= 3 ORDER BY round, step"
    expect(
        pair,
        rounds,
        """
        round step visit witness outcome  request_id kind num_tokens num_reused_tokens tokens_before
        1     0    0     native  selected a0         new  48         0                 0
        1     1    1     native  blocked  a1         -    -          -                 48
        1     2    2     probe   blocked  a2         -    -          -                 48
        1     3    3     probe   ready    b0         -    48         -                 48
        2     0    0     native  selected a1         new  16         32                0
        2     1    1     native  blocked  a2         -    -          -                 16
        2     2    2     probe   ready    b0         -    48         -                 16
        3     0    0     native  selected a2         new  16         32                0
        3     1    1     native  selected b0         new  48         0                 16
        """,
    )
    expect(
        pair,
        rounds.replace("ORDER", "AND outcome = 'blocked' ORDER"),
        """
        request_id cause         producer_request_id published_round matched_tokens ready_tokens num_tokens_lost
        a1         being_written a0                  -               32             0            32
        a2         being_written a0                  -               32             0            32
        a2         marked_again  a1                  1               32             0            32
        """,
    )


def test_round_scan_puts_selected_requests_between_the_refused_ones(pair, expect):
    expect(
        pair,
        "round_scan WHERE run = 1 AND round = 1 ORDER BY step",
        """
        step visit outcome  request_id tokens_before
        0    0     selected a0         0
        1    1     blocked  a1         48
        2    2     blocked  a2         48
        3    3     selected b0         48
        """,
    )


def test_round_scan_begins_with_running_requests_and_names_every_reason(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", row_capacity=4)
    for name in ("a", "b", "c", "d"):
        run.request(name)
    run.round(("a", 16), finishes=False)
    refusals = (builders.held("b", at=0), builders.other("d", "kv_blocks", at=2))
    run.round(("a", 16), ("c", 48), visits=refusals, stop="kv_blocks", stop_request="d")
    expect(
        open_runs([run.write()]),
        "round_scan WHERE round = 2 ORDER BY step",
        """
        step visit outcome  slot_class request_id kind    reason    num_tokens tokens_before
        0    -     selected used       a          running -         16         0
        1    0     held     held       b          -       -         -          16
        2    1     selected used       c          new     -         48         16
        3    2     other    other      d          -       kv_blocks -          64
        """,
    )


def test_request_visits_follow_a_request_over_its_rounds(pair, expect):
    expect(
        pair,
        "request_visits WHERE run = 0 AND request_id = 'a2' ORDER BY round",
        """
        round start_ms end_ms visit witness outcome cause         producer_request_id published_round ready_tokens
        1     0        85     2     probe   blocked being_written a0                  -               0
        2     100      185    1     native  blocked marked_again  a1                  1               0
        """,
    )


def test_request_rows_say_which_tokens_each_round_computed(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0", group=3, prompt=80)
    run.round(("a0", 16, 32))
    run.round(("a0", 32))
    run.rows_of["rows"][0] |= {"published_hash": 255, "restored_hash": 2**64 - 1}
    connection = open_runs([run.write()])
    expect(
        connection,
        "request_rows ORDER BY round",
        """
        round slot start_ms end_ms request_id request_group kind    first_token end_token num_tokens num_reused_tokens
        1     0    0        90     a0         3             new     32          48        16         32
        2     0    100      190    a0         3             running 48          80        32         0
        """,
    )
    expect(
        connection,
        "request_rows ORDER BY round",
        """
        restored_state   published_state
        ffffffffffffffff ff
        -                -
        """,
    )


def test_request_events_are_named(pair, expect):
    expect(
        pair,
        "request_events WHERE run = 0 AND request_id = 'a2' ORDER BY time_ms, event",
        """
        time_ms event     round detail       num_rounds request_id
        100     blocked   2     marked_again -          a2
        200     recovered 3     -            1          a2
        200     selected  3     -            -          a2
        290     finished  -     -            -          a2
        """,
    )


def test_round_details_and_spans(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.request("a1")
    run.round(("a0", 16), finishes=False)
    refusals = (builders.blocked("a1", "a0"), builders.ready("a1", 48))
    run.round(("a0", 32), visits=refusals, stop="blocked", stop_request="a1", recorder_ns=2, update_end_ns=None)
    run.finish()
    run.rows_of["spans"].append(run.rows_of["spans"][1] | {"clock": "device", "process_rank": 1, "end_ns": 1175})
    connection = open_runs([run.write()])
    expect(
        connection,
        "round_details ORDER BY round",
        """
        round start_ms end_ms schedule_ms probe_ms recorder_ms num_rows_running num_rows_new probe_end_reason
        1     0        90     10          -        0           0                1            -
        2     100      173    10          5        2           1                0            row_capacity
        """,
    )
    expect(
        connection,
        "round_spans WHERE round = 2 ORDER BY start_ms, clock",
        """
        component process_rank clock  start_ms end_ms after_round_start_ms duration_ms
        schedule  -            host   100      110    0                    10
        execute   1            device 120      175    20                   55
        execute   0            host   120      180    20                   60
        """,
    )


def test_overtakers_are_the_pairs_that_request_waits_counts(pair, expect):
    expect(
        pair,
        "request_overtakers WHERE run = 1 ORDER BY request, overtaker_request_id",
        """
        request_id overtaker_request_id overtaker_round overtaker_registered_ms rounds_difference
        a1         b0                   1               -50                     -1
        a2         b0                   1               -50                     -2
        a2         b1                   2               -50                     -1
        """,
    )
    counts = """SELECT run, request, num_overtakes FROM request_waits WHERE num_overtakes > 0 ORDER BY ALL"""
    pairs = "SELECT run, request, count(*) FROM request_overtakers GROUP BY ALL ORDER BY ALL"
    assert pair.execute(counts).fetchall() == pair.execute(pairs).fetchall() != []


def test_a_request_that_was_never_selected_is_overtaken_all_the_same(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    for name in ("a", "b", "c"):
        run.request(name)
    run.round(("c", 48))
    connection = open_runs([run.write()])
    query = "SELECT request_id, overtaker_request_id FROM request_overtakers ORDER BY ALL"
    assert connection.execute(query).fetchall() == [("a", "c"), ("b", "c")]
    counted = connection.execute("SELECT sum(num_overtakes) FROM request_waits").fetchone()
    assert counted == (2,)
