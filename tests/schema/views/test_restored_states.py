"""The link from who restored a state to who published it, by value."""

import pytest

from radixflow.schema.reading.connection import open_runs
from tests import builders


@pytest.fixture
def restoring(tmp_path):
    """a0 publishes state 7 in round 1, a1 restores it in round 2, b0 publishes it again in 3, a2 restores it in 4."""
    run = builders.RunBuilder(tmp_path / "run")
    for name in ("a0", "a1", "b0", "a2", "c0"):
        run.request(name)
    for name in ("a0", "a1", "b0", "a2", "c0"):
        run.round((name, 48))
    run.finish()
    for row, column, state in ((0, "published", 7), (1, "restored", 7), (2, "published", 7), (3, "restored", 7)):
        run.rows_of["rows"][row][f"{column}_hash"] = state
    run.rows_of["rows"][4]["restored_hash"] = 8  # published before the recording began
    return run


QUERY = """
    SELECT round, request, publisher, published_round, num_rounds_between, completed_ns, is_in_flight
    FROM restored_states ORDER BY round"""


def test_the_last_publisher_before_the_round_is_the_producer(restoring):
    with open_runs([restoring.write()]) as connection:
        found = connection.execute(QUERY).fetchall()
    assert found == [(2, 1, 0, 1, 1, 1090, False), (4, 3, 2, 3, 1, 1290, False)]


def test_a_state_whose_output_is_on_its_way_is_in_flight(restoring):
    """As under asynchronous scheduling: the output of round 1 is processed after round 2 was scheduled."""
    restoring.rows_of["rounds"][0] |= {"update_start_ns": 1150, "update_end_ns": 1160}
    restoring.rows_of["rounds"][2] |= {"update_start_ns": None, "update_end_ns": None}
    with open_runs([restoring.write()]) as connection:
        found = connection.execute(QUERY).fetchall()
    assert found == [(2, 1, 0, 1, 1, 1160, True), (4, 3, 2, 3, 1, None, True)]


def test_restored_summary_adds_up_the_links(restoring, expect):
    restoring.rows_of["rounds"][2] |= {"update_start_ns": None, "update_end_ns": None}
    restoring.rows_of["rows"][4]["restored_hash"] = 7  # published in round 3, restored in 5
    with open_runs([restoring.write()]) as connection:
        expect(
            connection,
            "restored_summary",
            """
            run label num_restored_states num_in_flight in_flight_fraction least_rounds_between p50_rounds_between most_rounds_between
            0   radix 3                   2             0.666667           1                    1                  2
            """,  # noqa: E501
        )


def test_a_run_that_restored_nothing_says_none_and_not_unknown(pair, expect):
    columns = "run num_restored_states num_in_flight in_flight_fraction p50_rounds_between\n"
    expect(pair, "restored_summary ORDER BY run", columns + "0 0 0 - -\n1 0 0 - -")
