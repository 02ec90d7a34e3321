"""The kept empty database: the same views whether they are bound anew or copied, whatever lies where it is kept."""

import random
import re
import threading
from pathlib import Path

import duckdb
import pytest

from radixflow.schema.reading import view_template
from radixflow.schema.reading.connection import open_nothing, open_runs
from radixflow.schema.views.catalog import view_sources
from tests import builders
from tests.schema.reading.test_summaries import rounded

EXCLUDED = re.compile(r"EXCLUDE \(([^)]*)\)")
DECLARED = (
    "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
    "SELECT table_name, column_name, data_type, column_index FROM duckdb_columns() WHERE NOT internal ORDER BY ALL",
)


def declared(connection):
    views, columns = (connection.execute(query).fetchall() for query in DECLARED)
    return [(name, EXCLUDED.sub(in_order, sql)) for name, sql in views], columns


def in_order(excluded):
    """Columns left out of a star are a set: DuckDB prints it in whatever order it has."""
    return f"EXCLUDE ({', '.join(sorted(excluded[1].split(', ')))})"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """The folder in which databases are kept, not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "radixflow" / "views"


@pytest.fixture(scope="module")
def bound():
    """What the database declares when nothing is kept."""
    with pytest.MonkeyPatch.context() as alone:
        alone.setattr(view_template, "user_cache", lambda _: None)
        found = declared(open_nothing())
    return found


def test_a_copy_declares_what_was_bound(cache, bound):
    assert not cache.exists()
    first = declared(open_nothing())
    (kept,) = cache.iterdir()
    times = kept.stat().st_mtime_ns
    second = declared(open_nothing())
    assert first == second == bound
    assert {name for name, _ in second[0]} >= set(view_sources())
    assert kept.stat().st_mtime_ns == times  # it was used, not made again


def test_a_copy_answers_what_was_bound(cache, tmp_path, monkeypatch):
    paths = builders.tiny_pair(tmp_path / "runs")
    open_nothing()
    with open_runs(paths) as copied, monkeypatch.context() as alone:
        alone.setattr(view_template, "user_cache", lambda _: None)
        with open_runs(paths) as bound:
            for view in view_sources():
                query = f"SELECT * FROM {view} ORDER BY ALL"
                found, expected = (each.sql(query).to_arrow_table() for each in (copied, bound))
                assert rounded(found) == rounded(expected) and found.schema.equals(expected.schema), view


def test_other_declarations_are_kept_apart(cache):
    with view_template.empty_database("CREATE VIEW one AS SELECT 1 AS a") as one:
        assert one.execute("SELECT a FROM one").fetchall() == [(1,)]
    with view_template.empty_database("CREATE VIEW one AS SELECT 2 AS a") as two:
        assert two.execute("SELECT a FROM one").fetchall() == [(2,)]
    assert len(list(cache.iterdir())) == 2


def damage(kept: Path, how: str) -> None:
    content = bytearray(kept.read_bytes())
    if how == "truncated":
        kept.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        kept.write_bytes(b"")
    elif how == "text":
        kept.write_text("no database")
    else:
        kept.unlink()
        kept.mkdir()


@pytest.mark.parametrize("how", ["truncated", "empty", "text", "folder"])
def test_a_damaged_file_is_passed_over_and_replaced(cache, bound, how):
    open_nothing()
    (kept,) = cache.iterdir()
    size = kept.stat().st_size
    damage(kept, how)
    assert declared(open_nothing()) == bound
    assert [path.name for path in cache.iterdir()] == [kept.name]
    assert how == "folder" or kept.stat().st_size == size


def test_no_flipped_bit_changes_a_view(cache, bound):
    open_nothing()
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    places = random.Random(0).sample(range(len(whole)), 5)
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        kept.write_bytes(flipped)
        assert declared(open_nothing()) == bound, place


def test_without_a_place_for_it_nothing_is_kept(tmp_path, monkeypatch, bound):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert declared(open_nothing()) == bound


def test_two_threads_may_make_and_use_it_at_once(cache, bound):
    found, errors = [], []

    def work():
        try:
            found.append(declared(open_nothing()))
        except Exception as error:  # told below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and found == [bound] * 4
    assert len(list(cache.iterdir())) == 1


def test_what_older_releases_kept_is_forgotten(cache):
    for number in range(view_template.MOST_TEMPLATES + 3):
        view_template.empty_database(f"CREATE VIEW one AS SELECT {number} AS a").close()
    assert len(list(cache.iterdir())) == view_template.MOST_TEMPLATES


def test_a_kept_file_of_another_text_would_be_seen(cache, bound):
    """The control arm: under the right name, other views are believed; the name is a digest of the text for that."""
    open_nothing()
    (kept,) = cache.iterdir()
    kept.unlink()
    with duckdb.connect(str(kept)) as other:
        other.execute("CREATE VIEW run_summary AS SELECT 1 AS a")
    assert declared(open_nothing()) != bound
