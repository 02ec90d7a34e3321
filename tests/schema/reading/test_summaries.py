"""Kept summaries say what the views say, and nothing else: of the same content, or not at all."""

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from radixflow.app.queries import run_facts
from radixflow.schema.notebook import open_run
from radixflow.schema.reading import summaries, summary_cache, view_template
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.reading.summaries import use_summaries
from radixflow.schema.reading.user_cache import user_cache
from radixflow.schema.run_files.manifest import read_manifest, write_manifest
from radixflow.schema.segments.encoding import write_segment
from radixflow.schema.views.catalog import cached_by, view_query, view_sources
from tests import builders

CACHED = [view for view in view_sources() if cached_by(view)]
ROUNDS = "SELECT run, num_rounds, num_scheduled_tokens FROM run_summary"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of our own, used for the shortest runs too; the views are bound once for all tests."""
    views = user_cache("views")
    monkeypatch.setattr(view_template, "user_cache", lambda _: views)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(summaries, "LEAST_ROWS", 1)
    return tmp_path / "cache" / "radixflow" / "summaries"


def ask(connection, query):
    """Ask through the cache; return the answer and the views that were computed for it."""
    computed = []
    use_summaries(connection, query, computed.append)
    return connection.execute(query).fetchall(), computed


def answers(paths):
    with open_runs(paths) as connection:
        return ask(connection, ROUNDS)


def entries(cache):
    return sorted(cache.glob("*/*.parquet"))


def plant(path, **changes):
    """Change values of the first round in the segment of rounds, which keeps its name."""
    segment = min((path / "rounds").glob("[!.]*.parquet"))
    table = pq.read_table(segment)
    for name, value in changes.items():
        values = [value, *table[name].to_pylist()[1:]]
        place = table.schema.get_field_index(name)
        table = table.set_column(place, table.schema.field(name), pa.array(values, table.schema.field(name).type))
    write_segment(segment, table, durable=False)


def rounded(table):
    """The rows; sums of floats come out differently in the last digit by the order in which they were added up."""
    rows = [list(row.values()) for row in table.to_pylist()]
    return [[float(f"{cell:.9g}") if isinstance(cell, float) else cell for cell in row] for row in rows]


def test_there_are_views_that_are_kept_and_each_says_by_what():
    assert {"run_summary", "latency_summary", "cost_summary", "blocking_causes", "paired_sums"} <= set(CACHED)
    assert {cached_by(view) for view in CACHED} == {("run",), ("run_a", "run_b")}


def test_kept_views_say_of_a_run_what_they_say_of_it_among_others(tmp_path):
    first, second = builders.tiny_pair(tmp_path)
    third = builders.one_round_run(tmp_path / "third")
    for paths in ([first], [first, second], [third, second]):  # filled by turns
        with open_runs(paths) as connection:
            ask(connection, "SELECT " + ", ".join(f"'{view}'" for view in CACHED))
    paths = [third, second, first]
    with open_runs(paths) as live, open_runs(paths) as kept:
        _, computed = ask(kept, "SELECT " + ", ".join(f"'{view}'" for view in CACHED))
        assert {cached_by(view) for view in computed} <= {("run_a", "run_b")}  # first and third were never paired
        for view in CACHED:
            query = f"SELECT * FROM {view} ORDER BY ALL"
            found, expected = (each.sql(query).to_arrow_table() for each in (kept, live))
            assert rounded(found) == rounded(expected) and found.schema.equals(expected.schema), view


def test_the_query_of_a_view_is_the_whole_of_it(tmp_path):
    with open_runs(builders.tiny_pair(tmp_path)) as connection:
        for view in CACHED:
            sources = (f"({view_query(view)})", view)
            found, expected = (connection.sql(f"FROM {each} ORDER BY ALL").to_arrow_table() for each in sources)
            assert rounded(found) == rounded(expected), view


def test_a_view_over_kept_ones_is_answered_from_them(tmp_path):
    paths = builders.tiny_pair(tmp_path)
    for expected in (["output_audit", "paired_intervals", "paired_sums", "run_summary"], []):
        with open_runs(paths) as connection, open_runs(paths) as live:
            found, computed = ask(connection, "SELECT * FROM paired_summary")
            assert sorted(computed) == expected
            assert found == live.execute("SELECT * FROM paired_summary").fetchall() != []


@pytest.mark.parametrize("fault", ["changed", "touched", "merged", "manifest", "removed"])
def test_a_changed_segment_never_shows_the_old_number(tmp_path, fault):
    path = builders.prefix_stop_run(tmp_path / "run")
    assert answers([path]) == ([(0, 6, 256)], ["run_summary"])
    assert answers([path]) == ([(0, 6, 256)], [])
    expected = [(0, 6, 256)]
    if fault == "changed":
        plant(path, tokens_scheduled=4048)
        expected = [(0, 6, 4256)]
    elif fault == "touched":
        (segment,) = (path / "rounds").glob("*.parquet")
        os.utime(segment, ns=(0, segment.stat().st_mtime_ns + 1))
    elif fault == "merged":
        (segment,) = (path / "rounds").glob("*.parquet")
        segment.rename(segment.with_name("engine-000000-000003.parquet"))
    elif fault == "manifest":
        manifest = read_manifest(path)
        manifest.probe = "off"
        write_manifest(path, manifest)
    else:
        shutil.rmtree(path / "rounds")
        expected = [(0, 0, 0)]
    found, computed = answers([path])
    assert found == expected and (computed == ["run_summary"] or fault == "removed")


def test_what_changes_after_opening_is_not_kept(tmp_path, cache):
    path = builders.prefix_stop_run(tmp_path / "run")
    with open_runs([path]) as connection:
        plant(path, tokens_scheduled=4048)
        ask(connection, ROUNDS)
    assert entries(cache) == []
    assert answers([path])[0] == [(0, 6, 4256)]


def test_live_and_incomplete_runs_are_always_computed(tmp_path, cache):
    complete, incomplete = builders.prefix_stop_run(tmp_path / "a"), builders.incomplete_run(tmp_path / "b")
    for computed in (["run_summary"], []):
        assert answers([incomplete, complete]) == ([(1, 6, 256), (0, 3, 128)], computed)
        assert len(entries(cache)) == 1
    plant(incomplete, tokens_scheduled=148)
    assert answers([incomplete, complete])[0] == [(1, 6, 256), (0, 3, 228)]
    assert answers([incomplete]) == ([(0, 3, 228)], [])


@pytest.mark.parametrize("fault", ["truncated", "empty", "flipped", "foreign", "another_entry", "a_folder"])
def test_a_damaged_entry_is_computed_and_written_anew(tmp_path, cache, fault):
    path, other = builders.tiny_pair(tmp_path)
    answers([other])
    (foreign,) = entries(cache)
    answers([path])
    (entry,) = set(entries(cache)) - {foreign}
    whole = entry.read_bytes()
    if fault == "truncated":
        entry.write_bytes(whole[: len(whole) // 2])
    elif fault == "empty":
        entry.write_bytes(b"")
    elif fault == "flipped":
        place = whole.index((256).to_bytes(8, "little"))
        entry.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
    elif fault == "foreign":
        pq.write_table(pa.table({"run": [0]}), entry)
    elif fault == "another_entry":
        entry.write_bytes(foreign.read_bytes())
    else:
        entry.unlink()
        entry.mkdir()
    assert answers([path]) == ([(0, 6, 256)], ["run_summary"])
    if fault != "a_folder":
        assert entry.read_bytes() == whole and answers([path]) == ([(0, 6, 256)], [])


@pytest.mark.parametrize("fault", ["a_file_in_the_way", "read_only", "no_home", "full"])
def test_without_a_place_to_keep_them_everything_is_computed(tmp_path, monkeypatch, fault):
    path = builders.prefix_stop_run(tmp_path / "run")
    if fault == "a_file_in_the_way":
        (tmp_path / "cache").write_text("")
    elif fault == "read_only":
        monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
    elif fault == "no_home":
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as Python answers without a home
    else:
        monkeypatch.setattr(summary_cache.pq, "write_table", full)
    for _ in range(2):
        assert answers([path]) == ([(0, 6, 256)], ["run_summary"])
    assert not list(tmp_path.rglob(".tmp-*"))


@pytest.mark.parametrize(
    ("named", "expected"),
    [("/cache", "/cache/radixflow/summaries"), (None, "/home/someone/.cache/radixflow/summaries"),
     ("not/absolute", "/home/someone/.cache/radixflow/summaries")],
)  # fmt: skip
def test_the_folder_is_that_of_the_user(monkeypatch, named, expected):
    monkeypatch.setenv("HOME", "/home/someone")
    if named is None:
        monkeypatch.delenv("XDG_CACHE_HOME")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", named)
    assert str(summary_cache.cache_folder()) == expected


def full(_table, target, **_options):
    with open(target, "wb") as file:
        file.write(b"PAR1")
    raise OSError(28, "No space left on device")


def test_a_run_is_known_wherever_it_lies_and_never_written_to(tmp_path):
    path = builders.prefix_stop_run(tmp_path / "run")
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*")} | {path: path.stat().st_mtime_ns}
    answers([path])
    assert {file: file.stat().st_mtime_ns for file in [path, *path.rglob("*")]} == before
    shutil.copytree(path, tmp_path / "copy")  # with the times of the files
    assert answers([tmp_path / "copy"]) == ([(0, 6, 256)], [])


def test_entries_of_other_definitions_are_passed_over(tmp_path, monkeypatch):
    path = builders.prefix_stop_run(tmp_path / "run")
    answers([path])
    monkeypatch.setattr(summaries, "_definitions", lambda: "of another release")
    assert answers([path]) == ([(0, 6, 256)], ["run_summary"])


def test_the_oldest_runs_are_forgotten(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(summary_cache, "MOST_KEYS", 2)
    for number in range(3):
        answers([builders.one_round_run(tmp_path / f"run{number}")])
        for place, folder in enumerate(sorted(cache.glob("*"), key=os.path.getmtime)):
            os.utime(folder, (1_000 + place, 1_000 + place))
    assert len(entries(cache)) == 2


def test_short_runs_are_not_kept(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(summaries, "LEAST_ROWS", 1_000_000)
    assert answers(builders.tiny_pair(tmp_path))[1] == [] and entries(cache) == []


def test_pages_and_notebooks_read_through_the_cache(tmp_path, cache):
    paths = builders.tiny_pair(tmp_path)
    with open_runs(paths) as connection:
        by_page = run_facts.run_summary(connection)
    assert [entry.name for entry in entries(cache)] == ["run_summary.parquet"] * 2
    with open_run(*paths) as runs:
        assert runs.arrow("run_summary").to_pylist() == by_page.to_pylist()
        assert runs.arrow("latency_summary").num_rows > 0
    assert len(entries(cache)) == 4
