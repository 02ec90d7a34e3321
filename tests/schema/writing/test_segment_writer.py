"""The segment writer: cheap, bounded, and harmless whatever happens to the disk or the process."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing import segment_flusher
from radixflow.schema.writing import segment_writer as table_writer
from radixflow.schema.writing.segment_writer import SegmentWriter

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path):
    return create_run(tmp_path / "run", Manifest(experiment="try", stream="mixed", policy="radix"))


def span(number):
    return (number, "execute", 0, "host", 100 * number, 100 * number + 50)


def read(run, table):
    return [row for path in run.segments(table) for row in pq.read_table(path).to_pylist()]


def wait_until(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def test_rows_come_back_with_the_declared_schema_and_metadata(run):
    with SegmentWriter(run.path, "engine") as writer:
        writer.append("spans", span(1))
        writer.append("spans", [span(2), span(3)])
        writer.describe(num_blocks=64)
    assert [row["round"] for row in read(run, "spans")] == [1, 2, 3]
    schema = pq.read_schema(run.segments("spans")[0])
    assert schema.equals(ALL_TABLES["spans"], check_metadata=False)
    assert schema.metadata == ALL_TABLES["spans"].metadata
    assert schema.field("start_ns").metadata[b"unit"] == b"ns"
    status = run.writers()["engine"]
    assert status["rows_written"] == {"spans": 3} and status["closed"] and status["num_blocks"] == 64
    assert status["drops"] == {} and status["faults"] == [] and status["pid"] == os.getpid()
    assert not run.unfinished_files()


def test_rows_are_on_the_disk_within_the_second_and_the_writer_reports(run):
    writer = SegmentWriter(run.path, "engine", flush_seconds=0.05)
    writer.append("spans", span(1))
    wait_until(lambda: run.segments("spans"))
    wait_until(lambda: run.writers()["engine"]["rows_written"] == {"spans": 1})
    before = (run.path / "writers" / "engine.json").stat().st_mtime_ns
    wait_until(lambda: (run.path / "writers" / "engine.json").stat().st_mtime_ns > before)
    assert run.writers()["engine"]["closed"] is False
    writer.close()


def test_many_rows_do_not_wait_for_the_second(run, monkeypatch):
    monkeypatch.setattr(table_writer, "FLUSH_ROWS", 10)
    writer = SegmentWriter(run.path, "engine", flush_seconds=60)
    writer.append("spans", [span(number) for number in range(10)])
    wait_until(lambda: len(read(run, "spans")) == 10)
    writer.close()


def test_a_segment_holds_no_more_rows_than_its_limit(run, monkeypatch):
    monkeypatch.setattr(table_writer, "FLUSH_ROWS", 10)
    writer = SegmentWriter(run.path, "engine", flush_seconds=60, durable=False)
    monkeypatch.setattr(writer._buffer, "_on_full", lambda: None)  # the disk is busy while rows pile up
    writer.append("spans", [span(number) for number in range(25)])
    writer._flusher.flush()
    assert [pq.read_metadata(path).num_rows for path in run.segments("spans")] == [10, 10, 5]
    writer.close()


def test_closing_twice_and_appending_after_it_are_harmless(run):
    writer = SegmentWriter(run.path, "engine")
    assert writer.close() and writer.close()
    writer.append("spans", span(1))
    assert writer.drops == {"spans": 1} and read(run, "spans") == []


def test_memory_is_bounded_and_what_is_dropped_is_counted_and_said(run, capfd):
    writer = SegmentWriter(run.path, "engine", maximum_pending_rows=5, flush_seconds=60)
    for number in range(8):
        writer.append("spans", span(number))
    writer.append("events", (1, 1, "arrived", None, None, None, None))
    assert writer.drops == {"spans": 3, "events": 1}
    writer.close()
    writer.append("spans", span(9))
    assert [row["round"] for row in read(run, "spans")] == [0, 1, 2, 3, 4]
    status = run.writers()["engine"]
    assert status["drops"] == {"spans": 3, "events": 1}
    assert status["faults"] == ["engine drops rows, and counts them, while 5 rows wait to be written to run"]
    assert capfd.readouterr().err.count("drops rows") == 1


def test_a_disk_whose_sync_takes_seconds_does_not_hold_back_the_next_rows(run, monkeypatch):
    """A busy disk: what is killed meanwhile has its rows in complete files; the end waits for the disk."""
    synced = []

    def slow(path):
        time.sleep(0.7)
        synced.append(path)

    monkeypatch.setattr("radixflow.schema.writing.background_sync.sync", slow)
    writer = SegmentWriter(run.path, "engine", flush_seconds=0.05)
    begun = time.monotonic()
    for number in range(3):
        writer.append("spans", span(number))
        wait_until(lambda number=number: len(read(run, "spans")) == number + 1)
    assert time.monotonic() - begun < 0.7 * 3  # one sync of a file and of its folder takes 1.4 s
    assert writer.close() and {path.name for path in synced} >= {f"engine-00000{number}.parquet" for number in range(3)}


def test_a_disk_that_cannot_be_synced_is_a_fault(run, monkeypatch, capfd):
    def broken(path):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("radixflow.schema.writing.background_sync.sync", broken)
    writer = SegmentWriter(run.path, "engine", flush_seconds=0.05)
    writer.append("spans", span(1))
    wait_until(lambda: writer.faults)
    assert writer.close() is False and not run.writers()["engine"]["closed"]
    assert writer.faults == ["engine stopped writing to run: Input/output error"]
    assert capfd.readouterr().err.count("radixflow:") == 1


HANGING = """
import os, sys, time
from radixflow.schema.writing.segment_writer import SegmentWriter
from radixflow.schema.run_files.run_directory import RunDirectory
run, most = sys.argv[1], int(sys.argv[2])
writer = SegmentWriter(run, "engine", maximum_pending_rows=most, flush_seconds=0.05)
os.mkdir(run + "/spans")
os.mkfifo(run + "/spans/.tmp-engine-000000.parquet")  # opening it for writing hangs: nobody reads from it
longest, begun = 0.0, time.monotonic()
rows = [(number, "execute", 0, "host", 100 * number, 100 * number + 50) for number in range(100)]
writer.append("spans", rows)
time.sleep(0.5)
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
before = resident()
for first in range(0, 4 * most, 100):
    rows = [(number, "execute", 0, "host", 100 * number, 100 * number + 50) for number in range(first, first + 100)]
    started = time.monotonic()
    writer.append("spans", rows)
    longest = max(longest, time.monotonic() - started)
grown = resident() - before
print(longest, writer._buffer.num_rows, writer.drops["spans"], grown / most, writer.close(timeout=0.2), flush=True)
os._exit(0)
"""


def test_a_disk_that_hangs_costs_the_caller_no_time_and_bounded_memory(run):
    most = 200_000
    command = [sys.executable, "-c", HANGING, str(run.path), str(most)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / ".import_root")}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    longest, pending, dropped, bytes_a_row, is_closed = ended.stdout.split()
    print(f"longest append {float(longest) * 1e3:.1f} ms; {float(bytes_a_row):.0f} bytes a row that waits")
    assert float(longest) < 1.0  # the disk hangs for ever
    assert int(pending) == most and int(dropped) == 100 + 4 * most - most
    assert 50 < float(bytes_a_row) < 600
    assert is_closed == "False"


@pytest.mark.parametrize(
    "error", [MemoryError(), SystemExit(), KeyboardInterrupt()], ids=lambda error: type(error).__name__
)
def test_a_writer_that_dies_says_so_and_drops_what_comes(run, monkeypatch, capfd, error):
    def dies(*_, **__):
        raise error

    writer = SegmentWriter(run.path, "engine", flush_seconds=0.05)
    monkeypatch.setattr(segment_flusher, "write_segment", dies)
    writer.append("spans", [span(1), span(2)])
    writer.append("events", (1, 1, "arrived", None, None, None, None))
    wait_until(lambda: writer.faults)
    writer.append("spans", span(3))
    assert writer.close() is False
    status = run.writers()["engine"]
    assert status["faults"] == [f"engine stopped writing to run: {type(error).__name__}"] and not status["closed"]
    assert status["drops"] == {"spans": 3, "events": 1} and writer._buffer.num_rows == 0
    assert capfd.readouterr().err.count("radixflow:") == 1


def test_a_second_process_cannot_write_under_the_same_name(run, capfd):
    with SegmentWriter(run.path, "engine") as first:
        first.append("spans", span(1))
        second = SegmentWriter(run.path, "engine")
        second.append("spans", span(2))
        assert second.close() is False and second.drops == {"spans": 1}
    assert [row["round"] for row in read(run, "spans")] == [1]
    assert run.writers()["engine"]["closed"] and run.writers()["engine"]["faults"] == []
    assert "another process writes as engine" in capfd.readouterr().err
    assert not list((run.path / "writers").glob(".held*"))


def test_a_row_that_does_not_fit_is_lost_alone_and_said_once(run, capfd):
    writer = SegmentWriter(run.path, "engine", flush_seconds=0.05)
    misfits = [(None, *span(2)[1:]), ("one", *span(2)[1:]), (1.5, *span(2)[1:]), span(2)[:3], (2**70, *span(2)[1:])]
    writer.append("spans", [span(1), *misfits, span(3)])
    wait_until(lambda: run.segments("spans"))
    writer.append("spans", misfits)
    writer.close()
    assert [row["round"] for row in read(run, "spans")] == [1, 3]
    assert writer.drops == {"spans": 10}
    assert writer.faults and writer.faults == [
        "rows of spans are lost: a row does not fit: column 'round' may not be NULL"
    ]
    assert capfd.readouterr().err.count("radixflow:") == 1


def test_a_folder_that_is_removed_stops_the_writer_and_not_its_caller(run, capfd):
    writer = SegmentWriter(run.path, "engine", flush_seconds=0.05)
    shutil.rmtree(run.path)
    writer.append("spans", span(1))
    wait_until(lambda: writer.faults)
    for number in range(3):
        writer.append("spans", span(number))
    assert writer.close() is False
    assert sum(writer.drops.values()) == 4
    assert len(writer.faults) == 1 and "No such file" in writer.faults[0]
    assert capfd.readouterr().err.count("radixflow:") == 1
    assert not run.path.exists()


def test_a_full_disk_keeps_what_was_complete(run, monkeypatch):
    writer = SegmentWriter(run.path, "engine", flush_seconds=0.05)
    writer.append("spans", span(1))
    wait_until(lambda: run.segments("spans"))

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("radixflow.schema.segments.encoding.pq.write_table", full)
    writer.append("spans", span(2))
    wait_until(lambda: writer.faults)
    assert writer.close() is False
    assert [row["round"] for row in read(run, "spans")] == [1]
    assert "No space left on device" in run.writers()["engine"]["faults"][0]
    assert run.writers()["engine"]["drops"] == {"spans": 1}
    assert not run.unfinished_files()


def test_a_missing_run_directory_is_a_fault_of_the_writer(tmp_path):
    writer = SegmentWriter(tmp_path / "nowhere", "engine")
    writer.append("spans", span(1))
    assert writer.close() is False and writer.faults and writer.drops == {"spans": 1}


KILLED = """
import sys, time
from radixflow.schema.writing.segment_writer import SegmentWriter
writer = SegmentWriter(sys.argv[1], "engine", flush_seconds=0.05)
number = 0
while True:
    writer.append("spans", (number, "execute", 0, "host", time.monotonic_ns(), 0))
    number += 1
    print(number, flush=True)
    time.sleep(0.001)
"""

ENDING = """
import sys
from radixflow.schema.writing.segment_writer import SegmentWriter
writer = SegmentWriter(sys.argv[1], "engine", flush_seconds=60)
writer.append("spans", (1, "execute", 0, "host", 1, 2))
"""

FORKING = """
import os, sys
from radixflow.schema.writing.segment_writer import SegmentWriter
writer = SegmentWriter(sys.argv[1], "engine", flush_seconds=60)
writer.append("spans", (1, "execute", 0, "host", 1, 2))
locks = [part._lock for part in (writer._buffer, writer._life, writer._status)] + [writer._pace._wake._cond]
for lock in locks:
    lock.acquire()  # as another thread may hold it at the moment of the fork
child = os.fork()
if child == 0:
    writer.append("spans", (2, "execute", 0, "host", 1, 2))
    writer.describe(num_blocks=64)
    writer.close()
    sys.exit(0)
for lock in locks:
    lock.release()
assert os.waitpid(child, 0)[1] == 0
writer.append("spans", (3, "execute", 0, "host", 1, 2))
writer.close()
"""


def start(script, run, **options):
    environment = os.environ | {"PYTHONPATH": str(ROOT / ".import_root")}
    return subprocess.Popen([sys.executable, "-c", script, str(run.path)], env=environment, **options)


def test_a_killed_process_keeps_its_complete_segments(run):
    process = start(KILLED, run, stdout=subprocess.PIPE, text=True)
    wait_until(lambda: len(run.segments("spans")) >= 5, 60)
    process.send_signal(signal.SIGKILL)
    appended = int(process.communicate()[0].split()[-1])
    numbers = [row["round"] for row in read(run, "spans")]
    assert numbers == list(range(len(numbers)))
    assert 0 <= appended - len(numbers) < 1000  # one row a millisecond: less than a second is lost
    assert run.writers()["engine"]["closed"] is False


def test_a_process_that_just_ends_loses_nothing(run):
    assert start(ENDING, run).wait(60) == 0
    assert len(read(run, "spans")) == 1 and run.writers()["engine"]["closed"] is True


def test_a_forked_child_is_silent_and_the_parent_goes_on(run):
    assert start(FORKING, run).wait(60) == 0
    assert [row["round"] for row in read(run, "spans")] == [1, 3]
    assert json.loads((run.path / "writers" / "engine.json").read_text())["closed"] is True
