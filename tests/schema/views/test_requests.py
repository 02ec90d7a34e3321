"""Views of requests, groups and blocked visits, by value."""
# ruff: noqa: E501 (expected tables are as wide as they are)

from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_request_lives(pair, expect):
    expect(
        pair,
        "request_lives WHERE run = 0 ORDER BY request",
        """
        request request_id request_group branch offered_ms sent_ms registered_ms first_selected_ms finished_ms completed_ms
        0       a0         0             0      -100       -100    -50           0                 90          100
        1       a1         0             1      -100       -100    -50           100               190         200
        2       a2         0             2      -100       -100    -50           200               290         300
        3       b0         1             0      -100       -100    -50           200               290         300
        4       b1         1             1      -100       -100    -50           300               390         400
        5       b2         1             2      -100       -100    -50           400               490         500
        6       c0         2             0      -100       -100    -50           400               490         500
        7       d0         3             0      -100       -100    -50           500               590         600
        """,
    )
    expect(
        pair,
        "request_lives WHERE run = 0 ORDER BY request",
        """
        request_id waiting_ms latency_ms num_blocked_visits num_rows outcome   first_token_id num_prompt_tokens
        a0         50         200        0                  1        completed 40             48
        a1         150        300        1                  1        completed 41             48
        a2         250        400        1                  1        completed 42             48
        b0         250        400        0                  1        completed 43             48
        b1         350        500        0                  1        completed 44             48
        b2         450        600        1                  1        completed 45             48
        c0         450        600        0                  1        completed 46             48
        d0         550        700        0                  1        completed 47             48
        """,
    )
    expect(
        pair,
        "request_lives WHERE run = 1 ORDER BY request LIMIT 2",
        """
        request_id num_reused_tokens num_scheduled_tokens num_repeated_tokens num_output_tokens dataset regime input_order
        a0         0                 48                   0                   1                 made    mixed  given
        a1         32                16                   0                   1                 made    mixed  given
        """,
    )


def test_a_late_sender_shows_in_the_offered_latency_only(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0", offered_ns=700, sent_ns=900)
    run.round(("a0", 48))
    connection = open_runs([run.write()])
    header = "latency_ms offered_latency_ms"
    expect(connection, "request_lives", f"{header}\n200 400")
    expect(connection, "group_lives", f"{header}\n200 400")


def test_lives_that_did_not_complete_have_no_latency(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0", group=0)
    run.request("a1", group=0, branch=1)
    run.rejected("b0", group=1)
    run.request("c0", group=2, released_ns=None)
    run.round(("a0", 48), ("a1", 16), finishes=True)
    connection = open_runs([run.write()])
    expect(
        connection,
        "request_lives ORDER BY request_id",
        """
        request request_id sent_ms released_ms first_selected_ms completed_ms waiting_ms latency_ms outcome    num_prompt_tokens
        0       a0         -100    -50         0                 100          50         200        completed  48
        1       a1         -100    -50         0                 -            50         -          unfinished 48
        -       b0         -       -           -                 -            -          -          rejected   9999
        2       c0         -100    -           -                 -            -          -          unfinished 48
        """,
    )
    expect(
        connection,
        "group_lives ORDER BY request_group",
        """
        request_group num_branches num_branches_completed first_sent_ms last_completed_ms latency_ms offered_latency_ms
        0             2            1                      -100          -                 -          -
        1             1            0                      -             -                 -          -
        2             1            0                      -100          -                 -          -
        """,
    )


def test_a_run_without_our_client_has_engine_times_and_no_latency(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", client=False)
    run.request("a0")
    run.round(("a0", 48))
    connection = open_runs([run.write()])
    expect(
        connection,
        "request_lives",
        """
        request_id request_group sent_ms registered_ms waiting_ms latency_ms outcome
        a0         -             -       -50           50         -          finished
        """,
    )
    expect(connection, "group_lives", "run request_group latency_ms")
    expect(
        connection,
        "run_summary",
        """
        num_rounds num_requests_finished mean_latency_ms p50_latency_ms p95_latency_ms mean_group_latency_ms
        1          1                     -               -              -              -
        """,
    )
    expect(connection, "slot_cells WHERE slot = 0", "slot_class request_id request_group\nused a0 -")


def test_group_lives(pair, expect):
    expect(
        pair,
        "group_lives ORDER BY run, request_group",
        """
        run request_group num_branches num_branches_completed first_sent_ms last_completed_ms latency_ms offered_latency_ms
        0   0             3            3                      -100          300               400        400
        0   1             3            3                      -100          500               600        600
        0   2             1            1                      -100          500               600        600
        0   3             1            1                      -100          600               700        700
        1   0             3            3                      -100          300               400        400
        1   1             3            3                      -100          300               400        400
        1   2             1            1                      -100          400               500        500
        1   3             1            1                      -100          400               500        500
        """,
    )


def test_blocked_visits(pair, expect):
    expect(
        pair,
        "blocked_visits ORDER BY run, round, visit",
        """
        run round start_ms visit request_id request_group witness cause         producer_request_id published_round
        0   1     0        1     a1         0             native  being_written a0                  -
        0   1     0        2     a2         0             probe   being_written a0                  -
        0   2     100      1     a2         0             native  marked_again  a1                  1
        0   4     300      1     b2         1             native  marked_again  b1                  3
        1   1     0        1     a1         0             native  being_written a0                  -
        1   1     0        2     a2         0             native  being_written a0                  -
        1   2     100      1     a2         0             native  marked_again  a1                  1
        """,
    )
    expect(
        pair,
        "blocked_visits WHERE run = 0 ORDER BY round, visit LIMIT 1",
        """
        matched_tokens ready_tokens num_tokens_lost request
        32             0            32              1
        """,
    )


def test_blocked_visits_survive_a_request_that_never_ended(tmp_path, expect):
    connection = open_runs([builders.incomplete_run(tmp_path)])
    connection.execute("DELETE FROM opened_faults")
    expect(
        connection,
        "blocked_visits",
        """
        round start_ms request_id producer_request_id cause
        1     0        a1         a0                  being_written
        """,
    )
    expect(
        connection,
        "slot_cells WHERE round = 3 ORDER BY slot",
        """
        slot slot_class request request_id num_tokens
        0    used       2       -          16
        1    no_work    -       -          -
        """,
    )


def test_the_parts_of_the_token_ledger_add_up(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.request("b0")
    run.round(("a0", 16, 32), ("b0", 48))
    run.finish()
    run.rows_of["requests"][1] |= {
        "num_scheduled_prompt_tokens": 58,
        "num_scheduled_tokens": 59,
        "num_repeated_tokens": 10,
    }
    expect(
        open_runs([run.write()]),
        "token_ledger_parts ORDER BY position",
        """
        run part        num_tokens prompt_fraction position
        0   reused      32         0.333333        0
        0   computed    64         0.666667        1
        0   unexplained 0          0               2
        0   repeated    10         0.104167        3
        0   output      1          0.0104167       4
        """,
    )
