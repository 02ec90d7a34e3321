"""Views of costs and of where a saving went, by value."""
# ruff: noqa: E501 (expected tables are as wide as they are)

import pytest

from radixflow.schema.reading.connection import open_runs
from tests import builders


def test_round_ends(pair, expect):
    expect(
        pair,
        "round_ends WHERE run = 0 ORDER BY round LIMIT 3",
        """
        round start_ns end_ns host_end_ns schedule_ns observer_ns origin_ns
        1     1000     1085   1090        10          5           1000
        2     1100     1185   1190        10          5           1000
        3     1200     1290   1290        10          0           1000
        """,
    )


def test_slot_ledger_in_rows_and_in_time(pair, expect):
    expect(
        pair,
        "slot_ledger WHERE run = 0 ORDER BY position",
        """
        slot_class      num_slots slot_fraction slot_ms slot_time_fraction position
        used            8         0.666667      705     0.671429           0
        avoidable       3         0.25          255     0.242857           1
        dependency_wait 0         0             0       0                  2
        held            0         0             0       0                  3
        token_limited   0         0             0       0                  4
        other           0         0             0       0                  5
        no_work         1         0.0833333     90      0.0857143          6
        """,
    )


def test_without_a_probe_only_used_slots_are_known(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run", probe="off")
    run.request("a0")
    run.round(("a0", 48))
    expect(
        open_runs([run.write()]),
        "slot_ledger ORDER BY position LIMIT 2",
        "slot_class num_slots slot_fraction\nused 1 0.5\navoidable - -",
    )


def test_fullness_distribution(pair, expect):
    expect(
        pair,
        "fullness_distribution WHERE run = 0 ORDER BY measure, level",
        """
        measure level filled_fraction row_capacity num_rounds num_rounds_kept rounds_fraction
        rows    1     0.5             2            4          4               0.666667
        rows    2     1               2            2          2               0.333333
        tokens  2     0.1             2            2          2               0.333333
        tokens  7     0.35            2            2          2               0.333333
        tokens  10    0.5             2            2          2               0.333333
        """,
    )


@pytest.fixture
def clocked(tmp_path):
    """Three rounds of 100, 200 and 300 ns; worker 60 ns each; the device measured two of them, 40 and 50 ns."""
    run = builders.RunBuilder(tmp_path / "run")
    for number in range(3):
        run.request(f"a{number}")
        start = 1000 + 1000 * number
        run.round((f"a{number}", 48), duration_ns=1000, update_end_ns=start + 100 * (number + 1))
    for number, cost in enumerate((40, 50)):
        start = 1020 + 1000 * number
        span = {"round": number + 1, "component": "execute", "process_rank": 0, "clock": "device"}
        run.rows_of["spans"].append(span | {"start_ns": start, "end_ns": start + cost})
    return open_runs([run.write()])


def test_round_costs_keep_the_clocks_apart(clocked, expect):
    expect(
        clocked,
        "round_costs ORDER BY clock, round",
        """
        round clock        cost_ns
        1     device       40
        2     device       50
        1     host_execute 60
        2     host_execute 60
        3     host_execute 60
        1     host_round   100
        2     host_round   200
        3     host_round   300
        """,
    )


def test_cost_summary(clocked, expect):
    expect(
        clocked,
        "cost_summary ORDER BY clock",
        """
        clock        num_rounds num_rounds_unmeasured num_tokens total_ms mean_ms median_ms per_1000_tokens_ms
        device       2          1                     96         90       45      45        937.5
        host_execute 3          0                     144        180      60      60        1250
        host_round   3          0                     144        600      200     200       4166.67
        """,
    )


def test_cost_moments(clocked, expect):
    expect(  # (100 - 200)^2 + (300 - 200)^2 = 20000; every round has one row of 48 tokens, of 48 * 49 / 2 steps
        clocked,
        "cost_moments ORDER BY clock",
        """
        clock        num_rounds mean_x1 mean_x2 mean_x3 mean_x4 mean_y x1x1 x2y yy
        device       2          1       48      0       1176    45     0    0   50
        host_execute 3          1       48      0       1176    60     0    0   0
        host_round   3          1       48      0       1176    200    0    0   20000
        """,
    )


def test_cost_shift_splits_the_saving_exactly(pair, expect):
    expect(
        pair,
        "cost_shift WHERE clock = 'host_round' ORDER BY run_a",
        """
        run_a run_b num_rounds_eliminated mean_ms_a mean_ms_b gross_credit_ms retained_cost_ms net_saving_ms absorbed_fraction
        0     1     2                     87.5      90        175             10               165           0.0571429
        1     0     -2                    90        87.5      -180            -15              -165          -
        """,
    )


def test_round_shapes(pair, expect):
    expect(  # 48 * 49 / 2 = 1176; 16 * 32 + 16 * 17 / 2 = 648
        pair,
        "round_shapes WHERE run = 0 ORDER BY round LIMIT 3",
        """
        round rows_used tokens_scheduled num_reused_tokens attention_work
        1     1         48               0                 1176
        2     1         16               32                648
        3     2         64               32                1824
        """,
    )


def shaped_arm(path, policy, offset):
    """Rounds that cost 1000 + 100 a row + 2 a token ns, plus an offset, whatever else they hold."""
    run = builders.RunBuilder(path, policy, row_capacity=4, token_budget=512)
    batches = [(48,), (16, 16), (90, 20), (7, 8, 9), (30,), (64, 3, 3), (100,), (20, 20, 20, 20)]
    if policy == "radixflow":
        batches = [*batches[1:6:2], (80, 80, 80), (60, 60, 60, 60)]
    for number, batch in enumerate(batches):
        start = 1000 + 5000 * number
        for place, tokens in enumerate(batch):
            run.request(f"r{number}-{place}", group=number, prompt=tokens)
        cost = 1000 + 100 * len(batch) + 2 * sum(batch) + offset
        rows = [(f"r{number}-{place}", tokens) for place, tokens in enumerate(batch)]
        run.round(*rows, duration_ns=5000, update_end_ns=start + cost)
    return run.write()


def test_the_shape_of_batches_explains_what_it_explains(tmp_path):
    connection = open_runs([shaped_arm(tmp_path / "a", "radix", 0), shaped_arm(tmp_path / "b", "radixflow", 50)])
    columns = "per_row_ms, per_1000_tokens_ms, fit_fraction, unexplained_cost_ms, shape_cost_ms, retained_cost_ms"
    query = f"SELECT {columns} FROM cost_shift_by_shape WHERE run_a = 0 AND clock = 'host_round'"
    ((per_row, per_tokens, fit, unexplained, shape, retained),) = connection.execute(query).fetchall()
    assert (per_row * 1e6, per_tokens * 1e6) == (pytest.approx(100), pytest.approx(2000))
    assert fit == pytest.approx(1) and unexplained * 1e6 == pytest.approx(5 * 50)
    assert shape + unexplained == pytest.approx(retained)
    ((from_shift,),) = connection.execute(
        "SELECT retained_cost_ms FROM cost_shift WHERE run_a = 0 AND clock = 'host_round'"
    ).fetchall()
    assert retained == pytest.approx(from_shift)


def test_capacity_bound_of_the_figure_2_stream_is_4(pair, expect):
    expect(
        pair,
        "capacity_bound ORDER BY run",
        """
        run num_rounds num_rows num_tokens num_rounds_for_rows num_rounds_for_tokens least_rounds rounds_per_least_round
        0   6          8        256        4                   2                     4            1.5
        1   4          8        256        4                   2                     4            1
        """,
    )


def test_a_round_stands_with_its_cost_and_its_shape(pair, expect):
    expect(
        pair,
        "round_cost_shapes WHERE run = 0 AND round IN (2, 3) ORDER BY round, clock",
        """
        round clock        cost_ms rows_used tokens_scheduled num_reused_tokens attention_work
        2     host_execute 60      1         16               32                648
        2     host_round   85      1         16               32                648
        3     host_execute 60      2         64               32                1824
        3     host_round   90      2         64               32                1824
        """,
    )
