"""The raster of the timeline, cell by cell."""

import json

import pytest

from radixflow.schema.reading.connection import open_runs
from radixflow.schema.reading.windows import RoundRange, window
from tests import builders


def test_slot_cells_of_prefix_stop(pair, expect):
    expect(
        pair,
        "slot_cells WHERE run = 0 ORDER BY round, slot",
        """
        round slot slot_class start_ms end_ms request request_id request_group num_tokens num_reused_tokens kind
        1     0    used       0        85     0       a0         0             48         0                 new
        1     1    avoidable  0        85     3       b0         1             48         -                 -
        2     0    used       100      185    1       a1         0             16         32                new
        2     1    avoidable  100      185    3       b0         1             48         -                 -
        3     0    used       200      290    2       a2         0             16         32                new
        3     1    used       200      290    3       b0         1             48         0                 new
        4     0    used       300      385    4       b1         1             16         32                new
        4     1    avoidable  300      385    6       c0         2             48         -                 -
        5     0    used       400      490    5       b2         1             16         32                new
        5     1    used       400      490    6       c0         2             48         0                 new
        6     0    used       500      590    7       d0         3             48         0                 new
        6     1    no_work    500      590    -       -          -             -          -                 -
        """,
    )


def test_slot_cells_of_state_ready_are_all_used(pair, expect):
    expect(
        pair,
        "slot_cells WHERE run = 1 GROUP BY ALL ORDER BY round",
        """
        round slot_class count(*)
        1     used       2
        2     used       2
        3     used       2
        4     used       2
        """,
    )


@pytest.fixture
def crowded(tmp_path):
    """One round of ten slots: 2 used, every class witnessed, and slots of two classes beyond the witnesses."""
    run = builders.RunBuilder(tmp_path / "run", row_capacity=10)
    for number, name in enumerate(("u0", "u1", "b0", "h0", "s0", "k0", "r0", "b1", "b2")):
        run.request(name, group=number)
    visits = (
        builders.blocked("b0", "u0", published_round=1, at=2),
        builders.held("h0", at=3),
        builders.other("s0", "no_chunked_prefill", at=4),
        builders.other("k0", "kv_blocks", at=5),
        builders.ready("r0", 16, at=6),
        builders.blocked("b1", "r0", witness="probe", at=7),
        builders.blocked("b2", "r0", witness="probe", at=8),
    )
    ledger = {"rows_dependency_wait": 2, "rows_held": 2, "rows_other": 1, "rows_no_work": 1}
    run.round(("u0", 48), ("u1", 48), visits=visits, **ledger)
    return run


def test_cells_are_used_then_witnesses_in_queue_order_then_anonymous(crowded, expect):
    expect(
        open_runs([crowded.write()]),
        "slot_cells ORDER BY slot",
        """
        slot slot_class      request_id num_tokens producer_request_id cause         reason             published_round
        0    used            u0         48         -                   -             -                  -
        1    used            u1         48         -                   -             -                  -
        2    dependency_wait b0         -          u0                  marked_again  -                  1
        3    held            h0         -          -                   -             -                  -
        4    token_limited   s0         -          -                   -             no_chunked_prefill -
        5    other           k0         -          -                   -             kv_blocks          -
        6    avoidable       r0         16         -                   -             -                  -
        7    dependency_wait b1         -          r0                  being_written -                  -
        8    held            -          -          -                   -             -                  -
        9    no_work         -          -          -                   -             -                  -
        """,
    )


def test_rows_of_a_lost_segment_leave_anonymous_used_cells(crowded, expect):
    path = crowded.write()
    (segment,) = (path / "rows").glob("*.parquet")
    segment.unlink()
    expect(
        open_runs([path]),
        "slot_cells WHERE slot < 3 ORDER BY slot",
        """
        slot slot_class      request_id
        0    used            -
        1    used            -
        2    dependency_wait b0
        """,
    )


def test_visits_of_a_lost_segment_leave_the_ledger_whole(crowded, expect):
    path = crowded.write()
    (segment,) = (path / "visits").glob("*.parquet")
    segment.unlink()
    expect(
        open_runs([path]),
        "(SELECT slot_class, list(slot ORDER BY slot) AS slots FROM slot_cells GROUP BY ALL) ORDER BY slots",
        """
        slot_class      slots
        used            [0,_1]
        avoidable       [2]
        dependency_wait [3,_4]
        held            [5,_6]
        token_limited   [7]
        other           [8]
        no_work         [9]
        """,
    )


def test_every_round_has_as_many_cells_as_rows_fit(pair):
    counts = "SELECT run, round, count(*), count(DISTINCT slot), min(slot), max(slot) FROM slot_cells GROUP BY ALL"
    assert {row[2:] for row in pair.execute(counts).fetchall()} == {(2, 2, 0, 1)}


@pytest.mark.parametrize("view", ["slot_cells", "round_occupancy", "round_clock", "blocked_visits"])
def test_a_window_of_rounds_reaches_the_files(pair, view):
    unfiltered = list(scans(pair, f"SELECT * FROM {view} WHERE run = 0"))
    assert any("round" in columns and not filters for columns, filters in unfiltered)  # the control
    with window(pair, [RoundRange(0, 2, 4)]) as asked:
        for columns, filters in scans(asked.cursor, f"SELECT * FROM {view} WHERE {asked.condition}"):
            assert "round" not in columns or "round >= 2" in filters, (columns, filters)


def scans(connection, query):
    """Yield columns and filters of every Parquet scan in the plan of a query."""
    plan = json.loads(connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchall()[0][1])
    todo = list(plan)
    while todo:
        node = todo.pop()
        todo += node["children"]
        details = node["extra_info"]
        if "PARQUET" in str(details.get("Function")):
            columns = details.get("Projections", [])
            yield ([columns] if isinstance(columns, str) else columns), str(details.get("Filters", ""))
