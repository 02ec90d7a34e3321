"""A killed run is mended without loss, says what is missing, and a repair that is killed itself can be repeated."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from radixflow.schema.checking import repair as repair_module
from radixflow.schema.checking.check import check_run
from radixflow.schema.checking.repair import ASIDE_FOLDER, repair_run
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest, read_manifest
from radixflow.schema.run_files.run_directory import STALE_SECONDS, RunDirectory, create_run
from radixflow.schema.segments.encoding import encode_rows, write_segment
from radixflow.schema.segments.footers import read_segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests import builders

ROOT = Path(__file__).parents[3]
KILLED_REPAIRS = Path(__file__).with_name("killed_repairs.py")
RECORDING = """
import sys, time
from radixflow.schema.writing.segment_writer import SegmentWriter
writer = SegmentWriter(sys.argv[1], "engine", flush_seconds=0.05)
number = 0
while True:
    writer.append("spans", (number, "execute", 0, "host", number, number + 1))
    if number < 5:
        writer.append("events", (number, 0, "arrived", None, None, None, None))
    number += 1
    time.sleep(0.001)
"""


def age(path: Path, seconds: float = STALE_SECONDS + 1) -> None:
    """Let the last signs of life of a run be this old."""
    for each in [path / "manifest.json", *(path / "writers").glob("*.json")]:
        os.utime(each, (time.time() - seconds, time.time() - seconds))


def start_recording(path: Path) -> "subprocess.Popen[bytes]":
    environment = os.environ | {"PYTHONPATH": str(ROOT / ".import_root")}
    process = subprocess.Popen([sys.executable, "-c", RECORDING, str(path)], env=environment)
    while len(RunDirectory(path).segments("spans")) < 4:
        assert process.poll() is None
        time.sleep(0.01)
    return process


def make_killed(path: Path) -> Path:
    """A run whose engine process was killed with SIGKILL."""
    create_run(path, Manifest("e", "s", "radix"))
    process = start_recording(path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return path


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    return make_killed(tmp_path_factory.mktemp("killed") / "0")


def rounds_of(path: Path) -> list[int]:
    """Rounds of all spans that a reader sees."""
    paths = RunDirectory(path).segments("spans")
    good = [each for each in paths if read_segment(each, ALL_TABLES["spans"]).fault is None]
    return sorted(number for each in good for number in pq.read_table(each)["round"].to_pylist())


def copy_of(run: Path, target: Path) -> Path:
    shutil.copytree(run, target)
    age(target)
    return target


def damage(path: Path) -> dict[str, str]:
    """Everything that a kill or a bad disk may leave, by what becomes of it."""
    spans = path / "spans"
    names = sorted(each.name for each in spans.glob("*.parquet"))
    whole = spans / names[2]
    whole.rename(spans / f".tmp-{whole.name}")  # killed between the writing and the renaming
    (spans / ".tmp-engine-000900.parquet").write_bytes(b"PAR1 half of a segment")
    (path / ".tmp-manifest.json").write_text("{")
    (path / "writers" / ".tmp-engine.json").write_text("{")
    cut = spans / "engine-000800.parquet"
    cut.write_bytes(whole.with_name(f".tmp-{whole.name}").read_bytes()[:-20])
    rows, _ = encode_rows([(0, "execute", 0, "host", 1, 2)], ALL_TABLES["spans"])
    other = spans / "engine-000801.parquet"  # of another schema
    pq.write_table(rows.rename_columns([*rows.column_names[:-1], "finish_ns"]), other)
    return {"kept": whole.name, "cut": cut.name, "other": other.name}


def test_a_killed_run_is_mended(killed, tmp_path):
    path = copy_of(killed, tmp_path / "run")
    before = rounds_of(path)
    names = damage(path)
    assert rounds_of(path) != before  # the control: the damage is felt
    cut = (path / "spans" / names["cut"]).read_bytes()
    repair = repair_run(path)
    assert rounds_of(path) == before
    said = "\n".join(repair.done)
    assert f"spans/{names['kept']} was whole but for its name and is kept." in said
    assert f"spans/{names['cut']} is not a readable Parquet file, it may be cut short" in said
    assert (path / "spans" / names["other"]).exists()  # of another schema, but whole: check tells of it
    for temporary in ("spans/.tmp-engine-000900.parquet", ".tmp-manifest.json", "writers/.tmp-engine.json"):
        assert f"{temporary}, a file that was being written, was removed." in said
    assert (path / ASIDE_FOLDER / "spans" / names["cut"]).read_bytes() == cut  # nothing is deleted
    assert not [each for each in path.rglob(".*")]
    assert len(RunDirectory(path).segments("spans")) == 2
    assert repair.missing == [
        "The writer engine did not close its part of the run. At most its last second is missing.",
        f"The rows of spans/{names['cut']} are missing; what is left is in set-aside/spans/{names['cut']}.",
    ]


def test_the_manifest_counts_what_is_there_and_says_what_is_missing(killed, tmp_path):
    path = copy_of(killed, tmp_path / "run")
    damage(path)
    repair = repair_run(path)
    manifest = read_manifest(path)
    with open_runs([path]) as connection:
        counts = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("spans", "events")
        }
    assert manifest.tables == counts
    assert manifest.faults == repair.missing
    assert (manifest.state, RunDirectory(path).state) == ("incomplete", "incomplete")
    assert manifest.repaired_utc and manifest.finished_utc and manifest.finished_utc < manifest.repaired_utc
    faults = [str(fault) for fault in check_run(path)]
    assert f"the run is incomplete (repaired {manifest.repaired_utc}); not closed: engine." in faults[0]
    (path / "spans" / RunDirectory(path).segments("spans")[0].name).unlink()
    assert any("rows of spans, but 0 can be read" in str(fault) for fault in check_run(path))  # the counts are checked


def test_a_second_repair_finds_nothing_to_do(killed, tmp_path):
    path = copy_of(killed, tmp_path / "run")
    damage(path)
    first = repair_run(path)
    before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
    second = repair_run(path)
    assert (second.done, second.missing) == ([], first.missing)
    assert {each: each.read_bytes() for each in path.rglob("*") if each.is_file()} == before


def test_a_run_without_damage_is_left_as_it_is(tmp_path):
    runs = [*builders.tiny_pair(tmp_path), *(ROOT / "sample_runs").glob("*/*/*")]
    assert len(runs) >= 4
    for path in (copy_of(run, tmp_path / str(number)) for number, run in enumerate(runs)):
        before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
        assert repair_run(path) == repair_module.Repair()
        assert {each: each.read_bytes() for each in path.rglob("*") if each.is_file()} == before


def test_a_complete_run_whose_file_was_damaged_later_is_complete_no_more(tmp_path):
    path = builders.tiny_pair(tmp_path)[0]
    segment = RunDirectory(path).segments("rounds")[0]
    content = bytearray(segment.read_bytes())
    content[4:60] = bytes(56)  # the footer stays whole
    segment.write_bytes(content)
    assert "cannot be decoded" in repair_run(path).done[0]
    assert RunDirectory(path).state == "incomplete"
    assert "rounds" not in read_manifest(path).tables


def test_parts_that_a_merged_file_holds_go_but_not_those_of_a_broken_one(killed, tmp_path):
    path = copy_of(killed, tmp_path / "run")
    before = rounds_of(path)
    parts = sorted((path / "spans").glob("*.parquet"))
    tables = [pq.read_table(part) for part in parts[:2]]
    merged = path / "spans" / "engine-000000-000001.parquet"
    write_segment(merged, tables[0].cast(ALL_TABLES["spans"]), durable=False)
    merged.write_bytes(merged.read_bytes()[:-30])  # a merged file that a bad disk broke: its parts count
    repair_run(path)
    assert rounds_of(path) == before


def test_a_living_engine_is_left_alone_even_when_it_is_silent(tmp_path):
    path = tmp_path / "run"
    create_run(path, Manifest("e", "s", "radix"))
    process = start_recording(path)
    try:
        for is_stopped in (False, True):
            if is_stopped:
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.2)
                age(path)
                assert RunDirectory(path).state == "incomplete"  # by its silence alone it would be taken for dead
            with pytest.raises(RadixflowError, match="being recorded: its writer engine lives") as caught:
                repair_run(path)
            assert caught.value.exit_code == ExitCode.OUTPUT
    finally:
        process.kill()
        process.wait()
    age(path, seconds=1)
    with pytest.raises(RadixflowError, match="being recorded, or was 10 seconds ago"):
        repair_run(path)
    age(path)
    assert repair_run(path).done


def test_two_repairs_at_once(killed, tmp_path, monkeypatch):
    path = copy_of(killed, tmp_path / "run")
    refused = []

    def again(*_):
        with pytest.raises(RadixflowError, match="Another process is repairing") as caught:
            repair_run(path)
        refused.append(caught.value.exit_code)

    monkeypatch.setattr(repair_module, "_take_holds_away", again)
    repair_run(path)
    assert refused == [ExitCode.OUTPUT]


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(RadixflowError, match="is not a run"):
        repair_run(tmp_path)


def outcome(path: Path) -> tuple[object, ...]:
    """All that a repair decides, without its times."""
    content = read_manifest(path).to_json() | {"repaired_utc": None, "finished_utc": None}
    aside = sorted(each.name for each in (path / ASIDE_FOLDER).rglob("*") if each.is_file())
    segments = {table: [each.name for each in RunDirectory(path).segments(table)] for table in ALL_TABLES}
    return content, aside, segments, rounds_of(path)


def kill_at_every_step(killed: Path, folder: Path, mode: str) -> tuple[list[Path], list[int]]:
    """Runs whose repair was killed one step later each, the last of them never; and the rows that must be there."""
    first = copy_of(killed, folder / "0")
    before = rounds_of(first)
    damage(first)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / ".import_root"), str(ROOT)])}
    command = [sys.executable, str(KILLED_REPAIRS), str(folder), mode]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return [folder / str(step) for step in range(1, int(ended.stdout.split()[-1]) + 1)], before


def test_a_repair_that_is_killed_at_any_step_loses_nothing_and_can_be_repeated(killed, tmp_path):
    paths, before = kill_at_every_step(killed, tmp_path, "careful")
    assert len(paths) > 15  # there are many steps
    kept_apart = set(before) - set(rounds_of(tmp_path / "0"))  # in the file that has not got its name yet
    expected = outcome(paths[-1])
    for path in paths:
        assert set(before) - set(rounds_of(path)) <= kept_apart and len(set(rounds_of(path))) == len(rounds_of(path))
        age(path)
        repair_run(path)
        assert outcome(path) == expected, path.name
    assert expected[3] == before


def test_a_careless_repair_would_be_found(killed, tmp_path):
    paths, before = kill_at_every_step(killed, tmp_path, "careless")
    lost = []
    for path in paths[:-1]:
        age(path)
        repair_run(path)
        lost.append(rounds_of(path) != before)
    assert any(lost)


def test_a_writer_that_ends_in_order_leaves_nothing_to_repair(tmp_path):
    path = tmp_path / "run"
    create_run(path, Manifest("e", "s", "radix"))
    with SegmentWriter(path, "engine") as writer:
        writer.append("spans", (1, "execute", 0, "host", 1, 2))
    age(path)
    assert repair_run(path).missing == []  # the manifest alone says that it is being recorded
    assert read_manifest(path).tables == {"spans": 1}
    assert repair_run(path).done == []


def test_requests_without_an_end_get_their_rows_once(tmp_path):
    path = tmp_path / "run"
    create_run(path, Manifest("e", "s", "radix"))
    with SegmentWriter(path, "engine") as writer:
        writer.append("registrations", [(0, "a", 48, 100, 7), (1, "b", 32, 110, None)])
        writer.append("events", (120, 0, "selected", 1, None, None, None))
    for num_repairs in range(2):
        age(path)
        repair = repair_run(path)
        assert any("2 requests had no end yet" in sentence for sentence in repair.done) == (num_repairs == 0)
    query = "SELECT request_id, first_selected_round, outcome FROM requests ORDER BY 1"
    with open_runs([path]) as connection:
        assert connection.execute(query).fetchall() == [("a", 1, "unfinished"), ("b", None, "unfinished")]
    (path / "requests" / "repair-000000.parquet").write_bytes(b"PAR1")  # what a bad disk takes is made again
    age(path)
    assert any("2 requests had no end yet" in sentence for sentence in repair_run(path).done)
    age(path)
    assert repair_run(path).done == []


def test_a_kill_between_the_tables_of_a_flush_leaves_requests_with_rows_and_no_event(tmp_path):
    """Rows are on the disk before events and rounds: a request was selected first where its row says that it is new."""
    path = tmp_path / "run"
    create_run(path, Manifest("e", "s", "radix"))
    with SegmentWriter(path, "engine") as writer:
        writer.append("registrations", [(0, "a", 48, 100, 7), (1, "b", 32, 110, None), (2, "before", 32, 90, None)])
        writer.append(
            "rows",
            [
                (1, 0, 0, "new", 0, 16, 16, 16, None, None),
                (1, 1, 2, "running", None, 40, 1, 0, None, None),
                (2, 0, 0, "running", None, 32, 16, 0, None, None),
            ],
        )
    age(path)
    repair_run(path)
    with open_runs([path]) as connection:
        found = connection.execute("""
            SELECT
                request_id, first_selected_round, first_selected_ns, num_reused_tokens, num_scheduled_tokens, num_rows
            FROM requests ORDER BY 1""").fetchall()
    assert found == [("a", 1, None, 16, 32, 2), ("b", None, None, None, 0, 0)]
