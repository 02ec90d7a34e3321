"""The hand-made recordings hold what their names say, on the disk, in the real format."""

import pyarrow.parquet as pq
import pytest

from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.segments.footers import read_segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.tables.rounds import SLOT_CLASSES
from tests import builders


def read(path, table):
    return [row for segment in RunDirectory(path).segments(table) for row in pq.read_table(segment).to_pylist()]


def test_the_pair_schedules_the_same_tokens_in_six_and_in_four_rounds(tmp_path):
    prefix_stop, state_ready = builders.tiny_pair(tmp_path)
    assert (len(read(prefix_stop, "rounds")), len(read(state_ready, "rounds"))) == (6, 4)
    for path in (prefix_stop, state_ready):
        run = RunDirectory(path)
        assert run.state == "complete"
        assert sum(row["num_tokens"] for row in read(path, "rows")) == 256
        assert sum(row["num_reused_tokens"] for row in read(path, "rows")) == 128
        assert {row["outcome"] for row in read(path, "offers")} == {"completed"}
        assert all(row["row_capacity"] == sum(row[name] for name in SLOT_CLASSES) for row in read(path, "rounds"))
        for table, schema in ALL_TABLES.items():
            assert [read_segment(segment, schema).fault for segment in run.segments(table)] in ([], [None])
    assert [row["rows_avoidable"] for row in read(prefix_stop, "rounds")] == [1, 1, 0, 1, 0, 0]
    assert [row["rows_avoidable"] for row in read(state_ready, "rounds")] == [0, 0, 0, 0]


def test_the_other_recordings_are_what_they_are_called(tmp_path):
    assert RunDirectory(builders.empty_run(tmp_path)).state == "complete"
    assert len(read(builders.one_round_run(tmp_path), "rounds")) == 1
    incomplete = RunDirectory(builders.incomplete_run(tmp_path))
    assert incomplete.state == "incomplete" and incomplete.unfinished_files()


@pytest.mark.parametrize("fault", ["truncated", "foreign", "not_parquet", "missing", "future_version"])
def test_broken_runs_are_written(tmp_path, fault):
    assert builders.broken_run(tmp_path, fault).is_dir()
