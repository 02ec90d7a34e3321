"""A window reads the files that hold it and no others, and says what the whole run says of it."""

import pytest

from benchmarks.generated_run import generate
from radixflow.schema.reading import windows
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.reading.windows import TABLES_BY_ROUND, RoundRange, window
from tests import builders

BY_ROUND = ("round_occupancy", "round_times", "slot_cells", "blocked_visits", "round_visits", "round_spans")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of some twenty files a table, and a short one."""
    folder = tmp_path_factory.mktemp("runs")
    long = generate(folder / "long", 300, rows_of_file=130)
    with open_runs([long, builders.prefix_stop_run(folder / "short")]) as connection:
        yield connection


def num_files(cursor, table):
    ((sql,),) = cursor.execute(
        f"SELECT sql FROM duckdb_views() WHERE view_name = '{table}' ORDER BY temporary DESC LIMIT 1"
    ).fetchall()
    return sql.count(".parquet")


@pytest.mark.parametrize(
    "ranges",
    [
        [RoundRange(0, 100, 104)],
        [RoundRange(0, 1, 1), RoundRange(1, 2, 4)],
        [RoundRange(0, 299, 300)],
        [RoundRange(0, 130, 131)],  # across two files of rounds
        [RoundRange(1, 1, 6)],
    ],
)
def test_a_window_says_what_the_whole_run_says_of_it(runs, ranges):
    with window(runs, ranges) as part:
        for view in BY_ROUND:
            query = f"SELECT * FROM {view} WHERE {part.condition} ORDER BY ALL"
            assert part.cursor.execute(query).fetchall() == runs.execute(query).fetchall(), view


def test_a_window_reads_the_files_that_hold_it(runs):
    whole = {table: num_files(runs.cursor(), table) for table in ("rows", "visits")}
    assert min(whole.values()) > windows.FEW_FILES
    with window(runs, [RoundRange(0, 100, 104)]) as part:
        assert all(1 <= num_files(part.cursor, table) < whole[table] / 2 for table in whole)
    assert {table: num_files(runs.cursor(), table) for table in whole} == whole  # for everybody else, nothing changed


def test_a_file_that_does_not_know_its_rounds_is_read(runs):
    cursor = runs.cursor()
    cursor.execute("BEGIN; UPDATE opened_segments SET first_round = NULL, last_round = NULL WHERE table_name = 'rows'")
    windows._read_few_files(cursor, [RoundRange(0, 100, 104)])
    assert num_files(cursor, "rows") == num_files(runs.cursor(), "rows") - 1  # but not of the run that is not asked for
    cursor.execute("ROLLBACK")
    cursor.close()


def test_the_tables_of_rounds_are_known():
    assert {"rounds", "rows", "visits", "awaited_states", "spans"} <= set(TABLES_BY_ROUND)
    assert not {"offers", "requests", "events"} & set(TABLES_BY_ROUND)
