"""Small segments are merged when their writer closes; no moment of it loses a row or counts one twice."""

import random
import re
from itertools import pairwise

import pyarrow.parquet as pq
import pytest

from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.run_files.segment_names import SegmentName
from radixflow.schema.segments import compaction
from radixflow.schema.segments.compaction import compact_segments
from radixflow.schema.segments.encoding import encode_rows, write_segment
from radixflow.schema.segments.footers import read_segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing.segment_writer import SegmentWriter

SPANS = ALL_TABLES["spans"]


def span(number):
    return (number, f"component{number % 3}", 0, "host", 100 * number, 100 * number + 50)


@pytest.fixture
def run(tmp_path):
    return create_run(tmp_path / "run", Manifest(experiment="try", stream="mixed", policy="radix"))


@pytest.fixture
def folder(run):
    """Five segments of the engine with two rows each, and one of a worker."""
    folder = run.path / "spans"
    folder.mkdir()
    for number in range(5):
        table, _ = encode_rows([span(2 * number), span(2 * number + 1)], SPANS)
        write_segment(folder / f"engine-{number:06d}.parquet", table, durable=False)
    table, _ = encode_rows([span(10)], SPANS)
    write_segment(folder / "engine-2-000000.parquet", table, durable=False)
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def rounds(run):
    return [number for path in run.segments("spans") for number in pq.read_table(path)["round"].to_pylist()]


def test_neighbours_become_one_file_with_the_same_rows_and_schema(run, folder):
    before = rounds(run)
    compact_segments(folder, "engine", SPANS)
    assert names(folder) == ["engine-000000-000004.parquet", "engine-2-000000.parquet"]
    assert sorted(rounds(run)) == sorted(before) == list(range(11))
    merged = read_segment(folder / "engine-000000-000004.parquet", SPANS)
    assert (merged.fault, merged.num_rows, merged.writer) == (None, 10, "engine")
    found = pq.read_table(merged.path)
    assert found.schema.metadata == SPANS.metadata and found["component"].to_pylist()[:2] == [
        "component0",
        "component1",
    ]


def test_merged_files_stay_below_their_size(run, folder, monkeypatch):
    monkeypatch.setattr(compaction, "MERGED_ROWS", 4)
    compact_segments(folder, "engine", SPANS)
    assert names(folder)[:3] == [
        "engine-000000-000001.parquet", "engine-000002-000003.parquet", "engine-000004.parquet",
    ]  # fmt: skip
    assert sorted(rounds(run)) == list(range(11))


def test_a_broken_or_missing_segment_is_left_where_it_is(run, folder):
    (folder / "engine-000001.parquet").write_text("broken")
    (folder / "engine-000003.parquet").unlink()
    compact_segments(folder, "engine", SPANS)
    assert len(names(folder)) == 5  # none of them has a neighbour
    assert (folder / "engine-000001.parquet").read_text() == "broken"


def test_between_the_merge_and_the_removal_no_row_counts_twice(run, folder, monkeypatch):
    def killed(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        compact_segments(folder, "engine", SPANS)
    monkeypatch.undo()
    assert len(names(folder)) == 7  # the control: both are there
    assert sorted(rounds(run)) == list(range(11))


def test_a_full_disk_leaves_the_segments(run, folder, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("radixflow.schema.segments.encoding.pq.write_table", full)
    compact_segments(folder, "engine", SPANS)
    assert len(names(folder)) == 6 and sorted(rounds(run)) == list(range(11))


def test_a_writer_merges_its_segments_when_it_closes_and_goes_on_counting(run):
    for begin in (0, 3):
        writer = SegmentWriter(run.path, "engine", flush_seconds=60, durable=False)
        for number in range(begin, begin + 3):
            writer.append("spans", span(number))
            writer._flusher.flush()
        assert writer.close()
    assert names(run.path / "spans") == ["engine-000000-000005.parquet"]
    assert rounds(run) == [0, 1, 2, 3, 4, 5]


def row_groups_scanned(connection, query):
    """Row groups that DuckDB read for a query, as it says itself, and row groups that there are."""
    ((_, plan),) = connection.execute(f"EXPLAIN ANALYZE {query}").fetchall()
    return tuple(map(int, re.search(r"Row Groups Scanned: (\d+) / (\d+)", plan).groups()))


@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_query_for_a_few_rounds_reads_a_part_of_a_merged_file(run, monkeypatch, is_sorted):
    """Rows come out of order, as spans of several ranks do; without the order the whole file is read."""
    if not is_sorted:
        monkeypatch.setattr("radixflow.schema.segments.encoding.sort_order", lambda schema: [])
    monkeypatch.setattr("radixflow.schema.segments.encoding.GROUP_ROWS", 3_000)
    with SegmentWriter(run.path, "worker0", durable=False, flush_seconds=60) as writer:
        numbers = random.Random(1).sample(range(30_000), 30_000)
        for first in (0, 15_000):
            writer.append("spans", [span(number) for number in numbers[first : first + 15_000]])
            writer._flusher.flush()
    (path,) = run.segments("spans")
    metadata = pq.read_metadata(path)
    groups = [metadata.row_group(group).column(0).statistics for group in range(metadata.num_row_groups)]
    assert len(groups) == 10
    assert all(first.max < second.min for first, second in pairwise(groups)) == is_sorted
    assert bool(metadata.row_group(0).sorting_columns) == is_sorted
    with open_runs([run.path]) as connection:
        assert connection.execute("SELECT count(*) FROM spans WHERE round BETWEEN 100 AND 200").fetchall() == [(101,)]
        query = "SELECT sum(start_ns) FROM spans WHERE round BETWEEN 100 AND 200"
        assert row_groups_scanned(connection, query) == ((1 if is_sorted else 10), 10)


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("engine-000003.parquet", SegmentName("engine", 3, 3)),
        ("engine-000003-001200.parquet", SegmentName("engine", 3, 1200)),
        ("worker-1-000003.parquet", SegmentName("worker-1", 3, 3)),
        ("engine-1234567.parquet", SegmentName("engine", 1234567, 1234567)),
        ("notes.parquet", None),
    ],
)
def test_names_are_read_as_they_are_written(name, parsed):
    assert SegmentName.parse(name) == parsed
    assert parsed is None or str(parsed) == name
