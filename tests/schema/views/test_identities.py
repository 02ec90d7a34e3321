"""What must hold between the views of any run: of hand-made recordings, a generated one and every sample run."""

from pathlib import Path

import pytest

from benchmarks.generated_run import generate
from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.reading.windows import RoundRange, rounds_in_window, window, within
from radixflow.schema.run_files.run_directory import find_runs
from tests import builders

SAMPLE_RUNS = Path(__file__).parents[3] / "sample_runs"

IDENTITIES = {
    "the slot ledger adds up to all slots": """
        SELECT run FROM slot_ledger GROUP BY run
        HAVING count(num_slots) = 7 AND sum(num_slots) <> (
            SELECT sum(row_capacity) FROM rounds WHERE rounds.run = slot_ledger.run)""",
    "its shares of rows and of time add up to 1": """
        SELECT run FROM slot_ledger GROUP BY run
        HAVING abs(sum(slot_fraction) - 1) > 1e-9 AND count(slot_fraction) = 7
            OR abs(sum(slot_time_fraction) - 1) > 1e-9 AND count(slot_fraction) = 7""",
    "the raster has the slots of the ledger": """
        SELECT run, slot_class, count(*) FROM slot_cells GROUP BY ALL
        EXCEPT SELECT run, slot_class, num_slots FROM slot_ledger WHERE num_slots IS NOT NULL
            OR run IN (SELECT run FROM runs WHERE probe <> 'off')""",
    "the ledger by cause is the raster by cause": """
        SELECT * FROM (SELECT run, slot_class, cause, num_slots FROM slot_causes) AS said FULL JOIN (
            SELECT run, slot_class, if(slot_class = 'dependency_wait', cause, NULL) AS cause, count(*) AS num_cells
            FROM slot_cells GROUP BY ALL) AS cells
        ON said.run = cells.run AND said.slot_class = cells.slot_class AND said.cause IS NOT DISTINCT FROM cells.cause
        WHERE num_slots IS DISTINCT FROM num_cells""",
    "refusals by witness are the visits one by one": """
        SELECT * FROM blocking_witnesses AS said FULL JOIN (
            SELECT run, cause, witness, count(*) AS num, count(DISTINCT request) AS num_others,
                count(DISTINCT round) AS num_in, sum(num_tokens_lost) AS lost
            FROM blocked_visits GROUP BY ALL) AS visits
        ON said.run = visits.run AND said.cause = visits.cause AND said.witness = visits.witness
        WHERE (num_visits, num_requests, num_rounds, num_tokens_lost)
            IS DISTINCT FROM (num, num_others, num_in, lost)""",
    "the most awaited producers are among all": """
        SELECT * FROM awaited_producers AS listed LEFT JOIN (
            SELECT waits.run, cause, request_id, sum(num_all_visits) AS num, count(*) AS num_waiting,
                min(first_round) AS earliest, max(last_round) AS latest
            FROM producer_waits AS waits
            LEFT JOIN requests ON requests.run = waits.run AND requests.request = waits.producer
            GROUP BY waits.run, cause, request_id, producer) AS told
        ON told.run = listed.run AND told.cause = listed.cause
            AND told.request_id IS NOT DISTINCT FROM listed.producer_request_id
        WHERE (listed.num_visits, listed.num_consumers, listed.first_round, listed.last_round)
            IS DISTINCT FROM (told.num, told.num_waiting, told.earliest, told.latest)""",
    "and nobody waited more for another one": """
        SELECT run FROM awaited_producers JOIN (
            SELECT run, max(num) AS num FROM (
                SELECT run, producer, sum(num_all_visits) AS num FROM producer_waits GROUP BY ALL)
            GROUP BY run) USING (run)
        WHERE producer_rank = 1 AND num_all_visits <> num""",
    "no ledger is open": "SELECT * FROM ledger_faults",
    "the token ledger of the run closes": "SELECT * FROM token_ledger WHERE num_unexplained_tokens <> 0",
    "repeated intervals are the repeated tokens": """
        SELECT * FROM token_ledger WHERE num_repeated_tokens <> num_tokens_repeated_after_preemption""",
    "rows, rounds and requests count the same tokens": """
        SELECT run FROM run_summary JOIN (SELECT run, sum(num_tokens) AS num_tokens FROM rows GROUP BY run) USING (run)
        WHERE num_scheduled_tokens <> num_tokens""",
    "credit less retained cost is the net saving": """
        SELECT * FROM cost_shift
        WHERE abs(gross_credit_ms - retained_cost_ms - net_saving_ms) > 1e-9 * greatest(total_ms_a, total_ms_b)""",
    "shape and the rest are the retained cost": """
        SELECT * FROM cost_shift_by_shape
        WHERE abs(shape_cost_ms + unexplained_cost_ms - retained_cost_ms) > 1e-9 * (1 + abs(retained_cost_ms))""",
    "parts of a latency add up to it": """
        SELECT run, name FROM latencies WHERE subject = 'branch' GROUP BY run, name
        HAVING abs(sum(value_ms) FILTER (interval IN ('sent_to_registered', 'registered_to_selected',
            'selected_to_completed')) - sum(value_ms) FILTER (interval = 'sent_to_completed')) > 1e-5""",
    "values and missing ones are all branches": """
        SELECT run FROM latency_summary JOIN (SELECT run, count(*) AS num FROM request_lives GROUP BY run) USING (run)
        WHERE subject = 'branch' AND dataset IS NULL AND num_values + num_missing <> num""",
    "rounds by fullness, and by stop reason, are all rounds": """
        SELECT run FROM run_summary JOIN (
            SELECT run, measure, sum(num_rounds) AS num FROM fullness_distribution GROUP BY ALL
            UNION ALL SELECT run, 'stops', sum(num_rounds) FROM stop_reasons GROUP BY ALL) USING (run)
        WHERE num_rounds <> num""",
    "BLOCKED visits are counted alike everywhere": """
        SELECT run FROM run_summary LEFT JOIN (SELECT run, sum(num_visits) AS causes FROM blocking_causes GROUP BY run)
            USING (run) LEFT JOIN (SELECT run, sum(num_blocked_visits) AS waits FROM request_waits GROUP BY run)
            USING (run)
        WHERE num_blocked_visits <> coalesce(causes, 0) OR num_blocked_visits <> coalesce(waits, 0)""",
    "the ledgers of the rounds are those of the run": """
        SELECT run, slot_class FROM slot_totals JOIN (
            SELECT run, sum(rows_avoidable) AS num FROM rounds GROUP BY run) USING (run)
        WHERE slot_class = 'avoidable' AND num_slots <> num""",
    "refusals are counted alike by cause and by outcome": """
        SELECT * FROM blocking_witnesses AS said FULL JOIN (
            SELECT run, cause, witness, num_visits AS num FROM visit_outcomes WHERE outcome = 'blocked') AS told
        ON said.run = told.run AND said.cause IS NOT DISTINCT FROM told.cause AND said.witness = told.witness
        WHERE num_visits IS DISTINCT FROM num
            AND coalesce(said.run, told.run) IN (SELECT run FROM runs WHERE sampled_fraction IS NULL)""",
    "a run needs no fewer rounds than its bound": "SELECT * FROM capacity_bound WHERE num_rounds < least_rounds",
    "a pair turned around has the opposite difference": """
        SELECT * FROM paired_summary AS there JOIN paired_summary AS back
            ON there.run_a = back.run_b AND there.run_b = back.run_a
        WHERE there.rounds_difference <> -back.rounds_difference
            OR abs(there.mean_latency_difference_low_ms + back.mean_latency_difference_high_ms) > 1e-9""",
}
"""What must hold, and a query that finds where it does not."""
LEDGER_IDENTITIES = (
    "the slot ledger adds up to all slots",
    "its shares of rows and of time add up to 1",
    "the raster has the slots of the ledger",
    "no ledger is open",
    "the token ledger of the run closes",
    "repeated intervals are the repeated tokens",
)
"""Those that hold whenever the recording ends; others compare tables, whose last second a kill cuts at other places."""


def broken_identities(connection, names=tuple(IDENTITIES)):
    """What does not hold for the opened runs, with examples; the odd runs of tests/collector ask it, too."""
    found = {name: connection.execute(IDENTITIES[name]).fetchall()[:3] for name in names}
    return {each: rows for each, rows in found.items() if rows}


def pairs_of_runs(tmp_path):
    """Folders of runs to open together, by name."""
    sampled = {str(run.path.parent): [] for run in find_runs(SAMPLE_RUNS)}
    for run in find_runs(SAMPLE_RUNS):
        sampled[str(run.path.parent)].append(run.path)
    made = list(builders.tiny_pair(tmp_path))
    generated = [generate(tmp_path / "generated", 300, rows_of_file=700)]
    return {"made": made, "generated": generated} | sampled


def test_identities_hold_on_every_run(tmp_path):
    for name, paths in pairs_of_runs(tmp_path).items():
        with open_runs(paths) as connection:
            assert broken_identities(connection) == {}, name


def test_broken_identities_are_found(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 48), rows_other=1, tokens_scheduled=49, num_blocked_visits=2)
    run.finish()
    run.rows_of["requests"][0]["num_repeated_tokens"] = 8
    with open_runs([run.write()]) as connection:
        broken = broken_identities(connection)
    assert broken.keys() >= {
        "the slot ledger adds up to all slots",
        "no ledger is open",
        "the token ledger of the run closes",
        "repeated intervals are the repeated tokens",
        "rows, rounds and requests count the same tokens",
        "BLOCKED visits are counted alike everywhere",
    }


def test_a_generated_run_has_no_fault(tmp_path):
    path = generate(tmp_path / "run", 400, rows_of_file=500)
    assert check_run(path) == []
    with open_runs([path]) as connection:
        counts = connection.execute("SELECT num_rounds, rows_per_round > 8 FROM run_summary").fetchall()
    assert counts == [(400, True)]


@pytest.mark.parametrize(
    ("low_ms", "high_ms", "expected"),
    [
        (0, 0, [(0, 1, 1), (1, 1, 1)]),
        (150e-6, 310e-6, [(0, 2, 4), (1, 2, 4)]),
        (195e-6, 199e-6, []),
        (450e-6, float("inf"), [(0, 5, 6)]),
        (float("-inf"), float("inf"), [(0, 1, 6), (1, 1, 4)]),
    ],
)
def test_a_window_of_time_is_a_range_of_rounds(pair, low_ms, high_ms, expected):
    found = rounds_in_window(pair, low_ms, high_ms)
    assert found == [RoundRange(*each) for each in expected]
    query = (
        "SELECT run, min(round), max(round) FROM round_times WHERE end_ms >= ? AND start_ms <= ? GROUP BY 1 ORDER BY 1"
    )
    assert pair.execute(query, [low_ms, high_ms]).fetchall() == expected
    cells = pair.execute(f"SELECT count(*) FROM slot_cells WHERE {within(found)}").fetchall()
    assert cells == [(sum(2 * (last - first + 1) for _, first, last in expected),)]


def test_a_round_without_an_update_is_found_by_its_execution(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 24), update_start_ns=None, update_end_ns=None)
    run.round(("a0", 24))
    with open_runs([run.write()]) as connection:
        assert rounds_in_window(connection, 70e-6, 90e-6) == [RoundRange(0, 1, 1)]
        assert rounds_in_window(connection, 85e-6, 90e-6) == []


def test_a_window_has_the_same_cells_and_names_as_the_whole(tmp_path):
    path = generate(tmp_path / "run", 300, rows_of_file=200)
    with open_runs([path]) as connection:
        ranges = [RoundRange(0, 101, 110)]
        for view in ("slot_cells", "round_occupancy", "blocked_visits"):
            query = f"SELECT * FROM {view} WHERE {within(ranges)} ORDER BY ALL"
            whole = connection.execute(query).fetchall()
            with window(connection, ranges) as part:
                assert part.cursor.execute(query).fetchall() == whole and len(whole) >= 10
                inside = part.cursor.execute("SELECT count(*) FROM request_names").fetchall()
            assert inside < connection.execute("SELECT count(*) FROM request_names").fetchall()


def test_a_window_without_rounds_is_empty(pair):
    with window(pair, []) as part:
        assert part.cursor.execute(f"SELECT count(*) FROM slot_cells WHERE {part.condition}").fetchall() == [(0,)]
