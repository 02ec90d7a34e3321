"""What rounds add up to, by value: the one place where bubbles, slots and waits of a run or a window are counted."""

import pytest

from radixflow.collector.instrumentation.row_making.slot_ledger import TOKEN_REASONS
from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_bubble_totals(pair, expect):
    expect(
        pair,
        "bubble_totals ORDER BY run",
        """
        run label               num_rounds num_slots_with_work rows_avoidable tokens_avoidable num_bubble_rounds bubble_round_fraction avoidable_rows_per_round duration_ms
        0   radix               6          11                  3              144              3                 0.5                   0.5                      590
        1   radixflow-immediate 4          8                   0              0                0                 0                     0                        390
        """,  # noqa: E501
    )


def test_bubble_totals_of_a_window_are_those_of_its_rounds_alone(pair, expect):
    cursor = pair.cursor()
    cursor.execute("CREATE TEMP VIEW round_ends AS SELECT * FROM memory.main.round_ends WHERE round BETWEEN 2 AND 3")
    columns = "run num_rounds rows_avoidable num_bubble_rounds duration_ms\n"
    expect(cursor, "bubble_totals ORDER BY run", columns + "0 2 1 1 190\n1 2 0 0 190")
    cursor.close()
    expect(pair, "bubble_totals ORDER BY run", columns + "0 6 3 3 590\n1 4 0 0 390")  # the window went with its cursor


def test_a_run_without_rounds_has_no_bubble_and_one_without_a_probe_does_not_say(tmp_path, expect):
    empty = builders.empty_run(tmp_path)
    run = builders.RunBuilder(tmp_path / "off", probe="off")
    run.request("a0")
    run.round(("a0", 48))
    with open_runs([empty, run.write()]) as connection:
        expect(
            connection,
            "bubble_totals ORDER BY run",
            """
            num_rounds num_slots_with_work rows_avoidable num_bubble_rounds bubble_round_fraction duration_ms
            0          0                   0              0                 -                     -
            1          1                   -              -                 -                     90
            """,
        )


def test_slot_totals_have_one_row_a_class(pair, expect):
    expect(
        pair,
        "slot_totals WHERE run = 0 ORDER BY num_slots DESC, slot_class",
        """
        slot_class      num_slots slot_ms num_slots_of_all slot_ms_of_all
        used            8         705     12               1050
        avoidable       3         255     12               1050
        no_work         1         90      12               1050
        dependency_wait 0         0       12               1050
        held            0         0       12               1050
        other           0         0       12               1050
        token_limited   0         0       12               1050
        """,
    )


def test_slot_waits_are_the_first_of_the_queue_and_the_lost_ones(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", row_capacity=4)
    for name in ("a0", "a1", "a2", "b0"):
        run.request(name)
    waiting = (builders.blocked("a1", "a0", published_round=1), builders.blocked("a2", "a0"))
    run.round(("a0", 48), visits=waiting, rows_dependency_wait=3, rows_no_work=0)  # one slot has lost its witness
    run.round(("a1", 16), ("b0", 48), visits=(builders.blocked("a2", "a0"),), rows_dependency_wait=0, rows_no_work=2)
    with open_runs([run.write()]) as connection:
        expect(
            connection,
            "slot_waits ORDER BY round, cause",
            "run round cause\n0 1 being_written\n0 1 marked_again\n0 1 -",
        )


@pytest.mark.parametrize("reason", sorted({*TOKEN_REASONS, "kv_blocks", "unknown"}))
def test_a_visit_may_explain_the_class_that_the_recorder_counts_it_to(tmp_path, reason):
    """The recorder has the same list; the ledger of a round and the cells of its raster must not drift apart."""
    run = builders.RunBuilder(tmp_path / "run", row_capacity=2)
    run.request("a0")
    run.request("b0")
    run.round(("a0", 48), visits=(builders.other("b0", reason),))
    with open_runs([run.write()]) as connection:
        expected = [("token_limited" if reason in TOKEN_REASONS else "other",)]
        for view in ("spread_visits", "round_visits", "request_visits"):
            assert connection.execute(f"SELECT slot_class FROM {view}").fetchall() == expected


def test_repeated_tokens_add_up_by_cause(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", row_capacity=4, token_budget=512)
    for name in ("a0", "a1", "a2"):
        run.request(name)
    run.round(("a0", 48), ("a1", 48), ("a2", 48))
    run.finish()
    for request, tokens in ((1, 32), (2, 16), (2, 16)):
        run.rows_of["repeated_blocks"].append({
            "round": 1, "request": request, "begin_token": 0, "end_token": tokens, "first_round": 1,
            "first_request": 0,
        })  # fmt: skip
    with open_runs([run.write()]) as connection:
        expect(
            connection,
            "repeated_tokens",
            "run label cause num_intervals num_requests num_tokens\n0 radix side_by_side 3 2 64",
        )
