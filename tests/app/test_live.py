"""A run that grows is followed: the real writer makes its segments, and the page reads only those that are new."""

import threading
import time

import pytest

from radixflow.app.queries import live
from radixflow.app.queries.live import LiveRun, recording_runs
from radixflow.app.sentences.live import live_sentence
from radixflow.schema.reading import tail
from radixflow.schema.run_files.manifest import write_manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests import builders
from tests.app.test_pages import texts


class GrowingRun:
    """A run whose rounds are written one by one, as the recorder does: every second one is a bubble of one row."""

    def __init__(self, path, num_rounds):
        self.made = builders.RunBuilder(path, "radix", probe="full")
        self.made.request("a", prompt=10 * num_rounds)
        self.made.request("b")
        for number in range(num_rounds):
            ready = (builders.ready("b", 48),) if number % 2 else ()
            self.made.round(("a", 1), visits=ready, finishes=False)
        create_run(path, self.made.manifest)
        self.path = path
        self.writer = SegmentWriter(path, "engine", flush_seconds=0.05, durable=False)
        self.written = 0

    def grow(self, count=1):
        rounds = self.made.rows_of["rounds"][self.written : self.written + count]
        rows = [tuple(row.get(name) for name in ALL_TABLES["rounds"].names) for row in rounds]
        before = self.num_segments
        self.writer.append("rounds", rows)
        self.written += count
        wait(lambda: self.num_segments > before)

    @property
    def num_segments(self):
        return len(list((self.path / "rounds").glob("engine-*.parquet")))

    def end(self, state="complete"):
        assert self.writer.close(30)
        self.made.manifest.state = state
        write_manifest(self.path, self.made.manifest)


def wait(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def growing(tmp_path):
    run = GrowingRun(tmp_path / "runs" / "growing", 600)
    yield run
    run.writer.close(30)


def test_rounds_come_in_as_they_are_written_and_the_end_is_noticed(tmp_path, growing):
    root = str(tmp_path / "runs")
    assert recording_runs(root) == [str(growing.path)]
    followed = LiveRun(str(growing.path), root)
    assert followed.look().last_round == 0 and followed.state == "recording"
    growing.grow(3)
    assert followed.look().tracks["first_round"].to_pylist() == [1, 2, 3]
    assert followed.look().last_round == 3
    growing.grow(2)
    rounds = followed.look()
    assert rounds.tracks["first_round"].to_pylist() == [1, 2, 3, 4, 5]
    assert rounds.tracks["start_ms"].to_pylist() == pytest.approx([0, 1e-4, 2e-4, 3e-4, 4e-4])
    per_class = rounds.raster.filter(live.pc.equal(rounds.raster["slot_class"], "avoidable"))
    assert per_class.select(["first_round", "mean_rows"]).to_pydict() == {"first_round": [2, 4], "mean_rows": [1, 1]}
    assert "40.0 % left rows unused although work was READY, 2 rows in all" in live_sentence(rounds.totals)
    growing.grow(1)
    growing.end()  # merges what is small, the segment that was not read yet among it
    assert followed.state == "complete" and followed.look().last_round == 6
    assert followed.look().tracks.num_rows == 6 and recording_runs(root) == []


def test_a_killed_recording_is_seen_to_have_ended(growing, monkeypatch):
    growing.grow(2)
    followed = LiveRun(str(growing.path), str(growing.path.parent))
    assert followed.look().last_round == 2
    monkeypatch.setattr("radixflow.schema.run_files.run_directory.STALE_SECONDS", -1.0)
    assert followed.state == "incomplete" and followed.look().last_round == 2


def test_a_look_reads_what_is_new_and_nothing_else(growing, monkeypatch):
    """The cost of a look, counted in files: the same after 5 and after 50 segments."""
    read, listed = [], []
    read_segment, segments = tail.read_segment, RunDirectory.segments
    monkeypatch.setattr(tail, "read_segment", lambda path, *more: (read.append(path), read_segment(path, *more))[1])
    monkeypatch.setattr(RunDirectory, "segments", lambda run, table: (listed.append(table), segments(run, table))[1])
    followed = LiveRun(str(growing.path), str(growing.path.parent))
    for _ in range(5):
        growing.grow()
    followed.look()
    assert len(read) == 5 + 1 and listed == ["rounds"]  # one of them twice, for the start of the first round
    for _ in range(45):
        growing.grow()
        read.clear()
        followed.look()
        assert len(read) == 1
    assert followed.look().last_round == 50 and listed == ["rounds"]


def test_only_the_last_rounds_are_kept(growing, monkeypatch):
    monkeypatch.setattr(live, "KEPT_ROUNDS", 50)
    followed = LiveRun(str(growing.path), str(growing.path.parent))
    growing.grow(200)
    followed.look()
    growing.grow(30)
    rounds = followed.look()
    assert rounds.tracks["first_round"].to_pylist() == list(range(181, 231))
    assert rounds.raster.num_rows == 50 + 25


def test_the_page_follows_a_run_that_grows_meanwhile(tmp_path, growing, open_app):
    growing.grow(4)
    thread = threading.Thread(target=lambda: [growing.grow(2) for _ in range(10)])
    app = open_app(tmp_path / "runs")
    app.run()
    app.switch_page("pages/live.py").run()
    assert not app.exception and "The last 4 rounds" in texts(app)
    thread.start()
    thread.join()
    app.run()
    assert "The last 24 rounds" in texts(app) and not app.exception
    growing.end()
    app.run()
    assert any("has ended and is complete" in info.value for info in app.info) and not app.exception


def test_without_a_recording_the_page_says_that_it_looks_for_one(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path)
    app.run()
    app.switch_page("pages/live.py").run()
    assert "No recording is running" in texts(app) and not app.exception
