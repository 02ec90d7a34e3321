"""Views of refusals, waits and fairness, by value."""
# ruff: noqa: E501 (expected tables are as wide as they are)

from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_visit_outcomes(pair, expect):
    expect(
        pair,
        "visit_outcomes WHERE run = 0 ORDER BY witness, outcome, cause",
        """
        witness outcome reason cause         num_visits first_round last_round
        native  blocked -      being_written 1          1           1
        native  blocked -      marked_again  2          2           4
        probe   blocked -      being_written 1          1           1
        probe   ready   -      -             3          1           4
        """,
    )


def test_blocking_causes_keep_the_two_apart(pair, expect):
    expect(
        pair,
        "blocking_causes ORDER BY run, cause",
        """
        run cause         num_visits num_probe_visits num_requests num_rounds num_tokens_lost num_rounds_stopped stopped_ms num_bubble_rounds rows_avoidable tokens_avoidable
        0   being_written 1          1                1            1          32              1                  85         1                 1              48
        0   marked_again  2          0                2            2          64              2                  170        2                 2              96
        1   being_written 2          0                2            1          64              0                  0          0                 0              0
        1   marked_again  1          0                1            1          32              0                  0          0                 0              0
        """,
    )


def test_producer_waits_add_up_to_who_waited_for_whom_by_scan_and_by_probe(pair, expect):
    expect(
        pair,
        """(SELECT waits.run, any_value(requests.request_id) AS producer_request_id, cause,
               sum(num_visits)::BIGINT AS num_visits, sum(num_all_visits - num_visits)::BIGINT AS num_probe_visits,
               count(*) AS num_consumers, min(first_round) AS first_round, max(last_round) AS last_round, producer
           FROM producer_waits AS waits JOIN requests ON requests.run = waits.run AND requests.request = producer
           GROUP BY waits.run, producer, cause) ORDER BY run, producer, cause""",
        """
        run producer_request_id cause         num_visits num_probe_visits num_consumers first_round last_round
        0   a0                  being_written 1          1                2             1           1
        0   a1                  marked_again  1          0                1             2           2
        0   b1                  marked_again  1          0                1             4           4
        1   a0                  being_written 2          0                2             1           1
        1   a1                  marked_again  1          0                1             2           2
        """,
    )


def test_producer_waits(pair, expect):
    expect(
        pair,
        "producer_waits WHERE run = 0 ORDER BY producer, cause, request",
        """
        run producer cause         request num_visits num_all_visits first_round last_round
        0   0        being_written 1       1          1              1           1
        0   0        being_written 2       0          1              1           1
        0   1        marked_again  2       1          1              2           2
        0   4        marked_again  5       1          1              4           4
        """,
    )


def test_blocking_witnesses_keep_scan_and_probe_apart(pair, expect):
    expect(
        pair,
        "blocking_witnesses ORDER BY run, cause, witness",
        """
        run cause         witness num_visits num_requests num_rounds num_tokens_lost
        0   being_written native  1          1            1          32
        0   being_written probe   1          1            1          32
        0   marked_again  native  2          2            2          64
        1   being_written native  2          2            1          64
        1   marked_again  native  1          1            1          32
        """,
    )


def test_awaited_producers_come_by_the_visits_that_waited(pair, expect):
    expect(
        pair,
        "awaited_producers ORDER BY run, producer_rank, cause",
        """
        run producer_rank producer_request_id cause         num_visits num_consumers consumers      first_round last_round num_all_visits
        0   1             a0                  being_written 2          2             ['a1',_'a2']   1           1          2
        0   2             a1                  marked_again  1          1             ['a2']         2           2          1
        0   3             b1                  marked_again  1          1             ['b2']         4           4          1
        1   1             a0                  being_written 2          2             ['a1',_'a2']   1           1          2
        1   2             a1                  marked_again  1          1             ['a2']         2           2          1
        """,
    )


def test_a_run_of_repeated_visits_is_spread_over_its_rounds(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", row_capacity=1)
    for name in ("a0", "b0"):
        run.request(name, prompt=96)
    for _ in range(3):
        run.round(("a0", 32), visits=(builders.other("b0", "kv_blocks"),))
    run.rows_of["visits"] = [run.rows_of["visits"][0] | {"last_round": 3}]
    connection = open_runs([run.write()])
    expected = """
        run round visit request witness outcome reason
        0   1     1     1       native  other   kv_blocks
        0   2     1     1       native  other   kv_blocks
        0   3     1     1       native  other   kv_blocks
        """
    expect(connection, "spread_visits ORDER BY round", expected)
    expect(connection, "round_visits ORDER BY round", expected)
    connection.execute("SET VARIABLE first_round = 2; SET VARIABLE last_round = 2")
    expect(connection, "(SELECT round FROM spread_visits)", "round\n2")


def test_slot_causes_tell_apart_what_a_slot_waited_for(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", row_capacity=4)
    for name in ("a0", "a1", "a2", "b0", "b1"):
        run.request(name)
    waiting = (builders.blocked("a1", "a0", published_round=1), builders.blocked("a2", "a0"))
    run.round(("a0", 48), visits=waiting)  # two of three empty slots have a witness
    run.round(("b0", 48), ("a1", 48), ("a2", 48), visits=(builders.blocked("b1", "b0"),))  # one slot for one
    with open_runs([run.write()]) as connection:
        expect(
            connection,
            "slot_causes ORDER BY slot_class, cause",
            """
            run slot_class      cause         num_slots slot_fraction
            0   dependency_wait being_written 2         0.25
            0   dependency_wait marked_again  1         0.125
            0   no_work         -             1         0.125
            0   used            -             4         0.5
            """,
        )


def test_blocking_recovery(pair, expect):
    expect(
        pair,
        "blocking_recovery ORDER BY run, cause",
        """
        run cause         num_visits num_visits_selected_next next_round_fraction p50_rounds_until_selected most_rounds_until_selected
        0   being_written 1          1                        1                   1                         1
        0   marked_again  2          2                        1                   1                         1
        1   being_written 2          1                        0.5                 1.5                       2
        1   marked_again  1          1                        1                   1                         1
        """,
    )


def test_blocked_requests_and_the_rows_in_which_they_recovered(pair, expect):
    expect(
        pair,
        "blocked_requests ORDER BY run, request",
        """
        run request_id num_blocked_visits num_being_written_visits num_marked_again_visits num_producers first_blocked_round selected_round num_rounds_blocked blocked_ms is_recovered
        0   a1         1                  1                        0                       1             1                   2              1                  100        True
        0   a2         1                  0                        1                       1             2                   3              1                  100        True
        0   b2         1                  0                        1                       1             4                   5              1                  100        True
        1   a1         1                  1                        0                       1             1                   2              1                  100        True
        1   a2         2                  1                        1                       2             1                   3              2                  200        True
        """,
    )
    expect(
        pair,
        "recovered_rows WHERE run = 1 ORDER BY round",
        """
        round start_ms slot request_id num_tokens num_reused_tokens num_blocked_visits num_rounds_blocked blocked_ms
        2     100      0    a1         16         32                1                  1                  100
        3     200      0    a2         16         32                2                  2                  200
        """,
    )


def test_request_waits_count_rounds_deferrals_and_overtakes(pair, expect):
    expect(  # state-ready takes b0 (3) in round 1, before a1 (1) and a2 (2), and b1 (4) in round 2, before a2
        pair,
        "request_waits WHERE run = 1 ORDER BY request",
        """
        request_id registered_ms is_selected waited_ms num_rounds_waited num_deferrals num_blocked_visits num_overtakes
        a0         -50           True        50        0                 0             0                  0
        a1         -50           True        150       1                 1             1                  1
        a2         -50           True        250       2                 2             2                  2
        b0         -50           True        50        0                 0             0                  0
        b1         -50           True        150       1                 0             0                  0
        b2         -50           True        250       2                 0             0                  0
        c0         -50           True        350       3                 0             0                  0
        d0         -50           True        350       3                 0             0                  0
        """,
    )
    assert pair.execute("SELECT sum(num_overtakes) FROM request_waits WHERE run = 0").fetchall() == [(0,)]


def test_a_request_that_is_never_selected_waits_to_the_last_round(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    for name in ("a0", "a1", "a2"):
        run.request(name)
    run.round(("a0", 48), visits=(builders.held("a1"),))
    run.round(("a2", 48), visits=(builders.held("a1"), builders.other("a1", "kv_blocks")))
    connection = open_runs([run.write()])
    expect(
        connection,
        "request_waits ORDER BY request",
        """
        request_id is_selected waited_ms num_rounds_waited num_deferrals num_held_visits num_other_visits num_overtakes
        a0         True        50        0                 0             0               0                0
        a1         False       150       2                 3             2               1                1
        a2         True        150       1                 0             0               0                0
        """,
    )
    expect(
        connection,
        "starvation ORDER BY wait_rank",
        """
        wait_rank request_id is_selected waited_ms num_overtakes blocked_ms
        1         a1         False       150       1             -
        2         a2         True        150       0             -
        3         a0         True        50        0             -
        """,
    )


def test_overtakes_are_inversions_of_any_order(tmp_path):
    order = [5, 2, 7, 0, 6, 1, 3, 4]
    run = builders.RunBuilder(tmp_path / "run", row_capacity=8, token_budget=512)
    for number in range(8):
        run.request(f"r{number}")
    for first, second in zip(order[::2], order[1::2], strict=True):
        run.round((f"r{first}", 48), (f"r{second}", 48))
    found = open_runs([run.write()]).execute("SELECT request, num_overtakes FROM request_waits ORDER BY 1").fetchall()
    turn = {request: place // 2 for place, request in enumerate(order)}
    assert found == [(i, sum(turn[j] < turn[i] for j in range(i + 1, 8))) for i in range(8)]
    assert sum(count for _, count in found) == 12  # the control: there are overtakes


def test_reuse_summary(pair, expect):
    expect(
        pair,
        "reuse_summary WHERE dataset IS NULL ORDER BY run",
        """
        run num_requests num_prompt_tokens num_reused_tokens reused_fraction num_refused_requests num_matched_tokens num_ready_tokens num_unready_tokens num_tokens_reused_after_refusal
        0   8            384               128               0.333333        3                    96                 0                96                 96
        1   8            384               128               0.333333        2                    64                 0                64                 64
        """,
    )


def test_token_ledger(pair, expect):
    expect(
        pair,
        "token_ledger ORDER BY run",
        """
        run num_requests num_prompt_tokens num_reused_tokens num_scheduled_prompt_tokens num_repeated_tokens num_unexplained_tokens num_overlap_tokens overlap_fraction
        0   8            384               128               256                         0                   0                      0                  0
        1   8            384               128               256                         0                   0                      0                  0
        """,
    )


def test_repeated_intervals_name_what_was_computed_twice_and_why(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", row_capacity=4, token_budget=512)
    for name in ("a0", "a1", "a2", "p0"):
        run.request(name)
    run.round(("a0", 40), ("a1", 36), ("p0", 32), finishes=False)
    run.round(("p0", 48), ("a2", 48), finishes=False)
    run.finish()
    rows, requests = run.rows_of["rows"], run.rows_of["requests"]
    for round_number, request in ((1, 1), (2, 2)):  # a0, a1 and a2 have the same 32 tokens
        run.rows_of["repeated_blocks"].append({
            "round": round_number, "request": request, "begin_token": 0, "end_token": 32, "first_round": 1,
            "first_request": 0,
        })  # fmt: skip
    rows[3] |= {"kind": "resumed", "first_token": 16}  # p0 was preempted, and had 16 of its 32 tokens left
    requests[3] |= {"num_preemptions": 1, "num_repeated_tokens": 16}
    connection = open_runs([run.write()])
    expect(
        connection,
        "repeated_intervals ORDER BY cause, request_id",
        """
        cause           round request_id first_request_id first_round begin_token end_token num_tokens num_prompt_tokens
        computed_before 2     a2         a0               1           0           32        32         32
        preemption      2     p0         p0               -           16          32        16         16
        side_by_side    1     a1         a0               1           0           32        32         32
        """,
    )
