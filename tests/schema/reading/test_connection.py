"""Opening runs: whatever is broken is named and left out, the rest opens and adds up."""

import json
import threading

import pytest

from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.connection import open_nothing, open_runs
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.views.catalog import view_sources
from tests import builders


def ask(connection, query):
    return connection.execute(query).fetchall()


def types(connection, name):
    return ask(connection, f"SELECT column_name, column_type FROM (DESCRIBE {name})")


def test_empty_and_filled_runs_have_the_same_columns_and_types(tmp_path):
    filled = open_runs(builders.tiny_pair(tmp_path))
    empty, nothing = open_runs([builders.empty_run(tmp_path)]), open_nothing()
    for name in [*ALL_TABLES, *view_sources()]:
        assert types(filled, name) == types(empty, name) == types(nothing, name)
        assert "HUGEINT" not in str(types(filled, name))
        ask(empty, f"SELECT * FROM {name}")


def test_tables_have_the_run_first_and_the_declared_columns(tmp_path):
    connection = open_runs(builders.tiny_pair(tmp_path))
    for table, schema in ALL_TABLES.items():
        assert [name for name, _ in types(connection, table)] == ["run", *schema.names]
    assert ask(connection, "SELECT run, count(*) FROM rounds GROUP BY run ORDER BY run") == [(0, 6), (1, 4)]
    hashes = ask(connection, "SELECT DISTINCT awaited_hash FROM visits WHERE outcome = 'blocked'")
    assert builders.hash_of("ba0") > 2**63
    assert (builders.hash_of("ba0"),) in hashes


@pytest.mark.parametrize(
    ("fault", "table", "sentence", "left_out"),
    [
        ("truncated", "visits", "engine-000000.parquet is not a readable Parquet file, it may be cut short", "visits"),
        ("foreign", "rows", "engine-000001.parquet has other columns than declared: lacks slot", None),
        ("not_parquet", "rows", "engine-000001.parquet is not a readable Parquet file", None),
        ("missing", "rows", "8 of 8 rows of rows that engine wrote are missing.", "rows"),
    ],
)
def test_a_broken_file_is_named_left_out_and_nothing_wrong_is_summed(tmp_path, fault, table, sentence, left_out):
    broken = builders.broken_run(tmp_path, fault)
    connection = open_runs([broken, builders.state_ready_run(tmp_path / "good")])
    ((run, name, found),) = ask(connection, "SELECT run, table_name, sentence FROM segment_faults")
    assert (run, name) == (0, table) and found.startswith(sentence)
    assert ask(connection, "SELECT num_faults FROM runs") == [(1,), (0,)]
    good = open_runs([builders.prefix_stop_run(tmp_path / "control")])
    for each in ALL_TABLES:
        expected = 0 if each == left_out else ask(good, f"SELECT count(*) FROM {each}")[0][0]
        assert ask(connection, f"SELECT count(*) FROM {each} WHERE run = 0") == [(expected,)]
    summary = "SELECT num_rounds, num_scheduled_tokens, num_reused_tokens FROM run_summary"
    assert ask(connection, summary) == [(6, 256, 128), (4, 256, 128)]
    for view in view_sources():
        ask(connection, f"SELECT * FROM {view}")


def test_a_run_of_a_future_version_is_left_out_among_others_and_refused_alone(tmp_path):
    future = builders.broken_run(tmp_path, "future_version")
    connection = open_runs([future, builders.state_ready_run(tmp_path / "good")])
    assert ask(connection, "SELECT run, num_rounds FROM run_summary") == [(1, 4)]
    ((run, name, sentence),) = ask(connection, "SELECT run, file_name, sentence FROM segment_faults")
    assert (run, name) == (0, "manifest.json") and "version 99; this RadixFlow reads version 1" in sentence
    with pytest.raises(RadixflowError, match="version 99; this RadixFlow reads version 1"):
        open_runs([future])


def test_a_path_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RadixflowError, match="is not a run"):
        open_runs([builders.one_round_run(tmp_path), tmp_path / "nowhere"])


def test_an_incomplete_run_opens_as_far_as_it_goes(tmp_path):
    connection = open_runs([builders.incomplete_run(tmp_path)])
    assert ask(connection, "SELECT state, num_faults FROM runs") == [("incomplete", 0)]
    assert ask(connection, "SELECT num_rounds, num_requests_finished FROM run_summary") == [(3, 3)]


def test_a_writer_that_is_broken_does_not_keep_a_run_from_opening(tmp_path):
    path = builders.one_round_run(tmp_path)
    (path / "writers" / "engine.json").write_text("{")
    connection = open_runs([path])
    assert ask(connection, "SELECT state, num_faults FROM runs") == [("incomplete", 1)]


def test_names_that_look_like_patterns_are_names(tmp_path):
    root = tmp_path / "it's [a-c]* of 100%?"
    pair = builders.tiny_pair(root)
    assert ask(open_runs(pair), "SELECT num_rounds FROM run_summary") == [(6,), (4,)]


def test_rows_of_several_segments_and_writers_are_put_together(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 48))
    path = run.write()
    (segment,) = (path / "spans").glob("*.parquet")
    for name in ("engine-000001", "worker0-000000"):
        (path / "spans" / f"{name}.parquet").write_bytes(segment.read_bytes())
    assert ask(open_runs([path]), "SELECT count(*) FROM spans") == [(3,)]


def test_facts_that_only_the_writers_know_are_found(tmp_path):
    path = builders.one_round_run(tmp_path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest |= {"policy_effective": None, "model": {}, "hardware": {}, "engine_arguments": {}, "workload": {}}
    (path / "manifest.json").write_text(json.dumps(manifest))
    facts = "SELECT policy_effective, block_size, model_name, hardware, row_capacity, workload_digest FROM runs"
    assert ask(open_runs([path]), facts) == [("one-round", 16, None, None, None, None)]


def test_threads_ask_through_cursors_of_their_own(tmp_path):
    connection = open_runs(builders.tiny_pair(tmp_path))
    found = []

    def count():
        for _ in range(5):
            found.append(ask(connection.cursor(), "SELECT count(*) FROM slot_cells"))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(20,)]] * 20


def test_a_run_that_grows_is_opened_again_and_a_file_that_changes_is_read_again(tmp_path):
    path = builders.prefix_stop_run(tmp_path / "run")
    assert ask(open_runs([path]), "SELECT count(*) FROM spans") == [(6,)]
    (segment,) = (path / "spans").glob("*.parquet")
    (path / "spans" / "engine-000001.parquet").write_bytes(segment.read_bytes())
    assert ask(open_runs([path]), "SELECT count(*) FROM spans") == [(12,)]
    segment.write_bytes(segment.read_bytes()[:-9])
    connection = open_runs([path])
    assert ask(connection, "SELECT count(*) FROM spans") == [(6,)]
    assert ask(connection, "SELECT count(*) FROM segment_faults") == [(1,)]
