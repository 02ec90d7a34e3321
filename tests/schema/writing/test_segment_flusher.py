"""The flusher: what waits becomes numbered segments in the right order, and every row is accounted for."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing import segment_flusher
from radixflow.schema.writing.fault_list import FaultList
from radixflow.schema.writing.row_buffer import RowBuffer
from radixflow.schema.writing.segment_flusher import SegmentFlusher


def span(number):
    return (number, "execute", 0, "host", 100 * number, 100 * number + 50)


def event(number):
    return (number, 0, "arrived", None, None, None, None)


@pytest.fixture
def run(tmp_path):
    return create_run(tmp_path / "run", Manifest(experiment="try", stream="mixed", policy="radix"))


class Flushing:
    """A flusher of real files, with everything around it in reach."""

    def __init__(self, run, most_rows=10):
        self.buffer = RowBuffer(ALL_TABLES, 1_000, 1_000, lambda: None)
        self.faults, self.complete = FaultList(), []
        self.flusher = SegmentFlusher(
            run.path, "engine", ALL_TABLES, self.buffer, most_rows, self.faults, self.complete.append
        )

    def flush(self, **rows):
        for table, added in rows.items():
            self.buffer.append(table, added)
        self.flusher.flush()

    @property
    def names(self):
        return [f"{path.parent.name}/{path.name}" for path in self.complete]


def rounds(run, table="spans"):
    return [row["round"] for path in run.segments(table) for row in pq.read_table(path).to_pylist()]


def test_segments_are_numbered_bounded_and_told_when_they_are_complete(run):
    flushing = Flushing(run)
    flushing.flush(spans=[span(number) for number in range(25)])
    flushing.flush(spans=[span(25)])
    assert flushing.names == [f"spans/engine-00000{number}.parquet" for number in range(4)]
    assert [pq.read_metadata(path).num_rows for path in flushing.complete] == [10, 10, 5, 1]
    assert rounds(run) == list(range(26))
    assert flushing.flusher.rows_written == {"spans": 26} and flushing.buffer.num_rows == 0
    assert flushing.flusher.bytes_written == sum(path.stat().st_size for path in flushing.complete)


def test_nothing_that_waits_makes_no_file(run):
    flushing = Flushing(run)
    flushing.flush()
    assert flushing.complete == [] and flushing.flusher.rows_written == {} and run.segments("spans") == []


def test_numbers_go_on_behind_the_segments_that_are_there(run):
    Flushing(run).flush(spans=[span(1)])
    again = Flushing(run)
    again.flush(spans=[span(2)])
    assert again.names == ["spans/engine-000001.parquet"] and rounds(run) == [1, 2]


def test_a_number_that_was_used_would_overwrite_a_segment(run, monkeypatch):
    """The control arm: nobody looks at what is there."""
    Flushing(run).flush(spans=[span(1)])
    monkeypatch.setattr(SegmentFlusher, "_first_number", lambda *_: 0)
    Flushing(run).flush(spans=[span(2)])
    assert rounds(run) == [2]


def a_row(table):
    """A row that fits: 0 or a text, and nothing where nothing may be."""
    kinds = [None if field.nullable else pa.types.is_integer(field.type) for field in ALL_TABLES[table]]
    return tuple({None: None, True: 0, False: "x"}[kind] for kind in kinds)


def written_order(run):
    flushing = Flushing(run)
    flushing.flush(rounds=[a_row("rounds")], spans=[span(1)], events=[event(1)])
    assert flushing.faults.sentences == []
    return [path.parent.name for path in flushing.complete]


def test_a_round_is_written_after_what_it_refers_to(run):
    order = written_order(run)
    assert order[-1] == "rounds" and sorted(order) == ["events", "rounds", "spans"]


def test_a_flusher_without_that_order_would_be_found(run, monkeypatch):
    """The control arm: tables are written as they are declared."""
    monkeypatch.setattr(segment_flusher, "_WRITTEN_LAST", ())
    assert written_order(run)[-1] != "rounds"


def test_pulled_rows_are_asked_for_at_each_flush_and_counted_like_others(run):
    flushing, asked = Flushing(run), []
    flushing.flusher.pull("spans", lambda: asked.append(flushing.buffer.num_rows) or [span(len(asked))])
    flushing.flush(events=[event(1)])
    flushing.flush()
    assert asked == [1, 0] and rounds(run) == [1, 2] and flushing.buffer.num_rows == 0
    assert flushing.flusher.rows_written == {"events": 1, "spans": 2}


def test_another_source_may_come_while_a_flush_goes_through_them(run):
    """As the spans of an engine do, after its recorder has begun; a set that grows meanwhile would raise."""
    flushing = Flushing(run)

    def source():
        flushing.flusher.pull("events", lambda: [event(1)])
        return [span(1)]

    flushing.flusher.pull("spans", source)
    flushing.flush()
    flushing.flush()
    assert flushing.flusher.rows_written == {"spans": 2, "events": 1}


def test_rows_that_do_not_fit_are_lost_alone_and_said_once_a_table(run, capfd):
    flushing = Flushing(run)
    misfit = (None, *span(1)[1:])
    flushing.flush(spans=[span(1), misfit, span(2)])
    flushing.flush(spans=[misfit])
    flushing.flush(events=[(None, *event(1)[1:])])
    assert rounds(run) == [1, 2] and flushing.buffer.drops == {"spans": 2, "events": 1}
    assert [sentence.split(":")[0] for sentence in flushing.faults.sentences] == [
        "rows of spans are lost", "rows of events are lost",
    ]  # fmt: skip
    assert capfd.readouterr().err.count("radixflow:") == 2
    assert flushing.buffer.num_rows == 0


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError(), KeyboardInterrupt()])
def test_a_disk_that_fails_loses_the_segment_that_was_tried_and_gives_back_the_rest(run, monkeypatch, error):
    flushing, native = Flushing(run), segment_flusher.write_segment

    def second_fails(path, *args, **options):
        if flushing.complete:
            raise error
        native(path, *args, **options)

    monkeypatch.setattr(segment_flusher, "write_segment", second_fails)
    with pytest.raises(type(error)):
        flushing.flush(spans=[span(number) for number in range(25)], rounds=[(1,)])
    assert rounds(run) == list(range(10)) and flushing.flusher.rows_written == {"spans": 10}
    assert flushing.buffer.drops == {"spans": 10} and flushing.buffer.num_rows == 6
    waiting = flushing.buffer.take()
    assert [row[0] for row in waiting["spans"]] == list(range(20, 25)) and waiting["rounds"] == [(1,)]


def test_a_run_that_was_removed_is_not_made_again(run):
    flushing = Flushing(run)
    for path in sorted(run.path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    run.path.rmdir()
    with pytest.raises(FileNotFoundError):
        flushing.flush(spans=[span(1)])
    assert not run.path.exists()


def test_segments_are_merged(run):
    flushing = Flushing(run)
    for number in range(3):
        flushing.flush(spans=[span(number)])
    flushing.flusher.merge_segments(durable=False)
    assert [path.name for path in run.segments("spans")] == ["engine-000000-000002.parquet"]
    assert rounds(run) == [0, 1, 2]
