"""Writers that have not ended are closed with the process, share its last seconds, and are silent in its children."""

import os
import time

import pytest

from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.writing import live_writers
from radixflow.schema.writing.segment_writer import SegmentWriter
from radixflow.schema.writing.writer_state import WriterState


@pytest.fixture
def run(tmp_path):
    return create_run(tmp_path / "run", Manifest(experiment="try", stream="mixed", policy="radix"))


@pytest.fixture(autouse=True)
def only_ours(monkeypatch):
    monkeypatch.setattr(live_writers, "_LIVE_WRITERS", type(live_writers._LIVE_WRITERS)())


def test_every_writer_that_has_not_ended_is_closed(run):
    writers = [SegmentWriter(run.path, name, flush_seconds=60) for name in ("client", "engine", "worker0")]
    writers[0].close()
    assert set(live_writers._LIVE_WRITERS) == set(writers[1:])
    for writer in writers[1:]:
        writer.append("spans", (1, "execute", 0, "host", 1, 2))
    live_writers.close_all()
    assert {name: status["closed"] for name, status in run.writers().items()} == dict.fromkeys(run.writers(), True)
    assert all(run.writers()[name]["rows_written"] == {"spans": 1} for name in ("engine", "worker0"))
    assert not live_writers._LIVE_WRITERS


def test_slow_writers_share_the_time_that_is_left(monkeypatch):
    monkeypatch.setattr(live_writers, "CLOSING_SECONDS", 0.4)
    given = []

    class Slow:
        def close(self, timeout=30.0):
            given.append(timeout)
            time.sleep(min(timeout, 0.3))
            return False

        def become_silent(self):
            """It has no thread."""

    slow = [Slow() for _ in range(3)]
    for writer in slow:
        live_writers.add(writer)
    live_writers.close_all()
    assert given == sorted(given, reverse=True) and given[0] <= 0.4 and given[-1] == 0


def silent_child_says(writer):
    """Whether a forked child may still write; in the child, nothing of the test goes on."""
    child = os.fork()
    if child == 0:
        try:
            writer.append("spans", (2, "execute", 0, "host", 1, 2))
            is_silent = writer._life.state is WriterState.SILENT_CHILD and not live_writers._LIVE_WRITERS
            os._exit(0 if is_silent and writer.close() is False else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_is_silent_also_where_the_writer_has_faults(run):
    """Its status is the parent's: a child that wrote it again would say that another process had been recorded."""
    writer = SegmentWriter(run.path, "engine", flush_seconds=60)
    writer.faults.append("something went wrong")
    writer._write_status()
    before = (run.path / "writers" / "engine.json").stat().st_mtime_ns
    assert silent_child_says(writer) == 0
    assert (run.path / "writers" / "engine.json").stat().st_mtime_ns == before
    assert run.writers()["engine"]["pid"] == os.getpid()
    writer.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_of_a_process_that_silences_nobody_would_be_found(run):
    """The control arm: a writer that nobody looks after."""
    writer = SegmentWriter(run.path, "engine", flush_seconds=60)
    live_writers.discard(writer)
    assert silent_child_says(writer) != 0
    writer.close()
