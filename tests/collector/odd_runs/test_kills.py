"""A recording that is killed (SIGKILL) at random moments, many times: it opens, and at most one second is missing.

vLLM's real scheduler, the recorder and the writer without a model; ``test_killed_engines.py`` kills whole engines.
"""

import os
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from radixflow.schema.checking.check import check_run
from radixflow.schema.checking.repair import repair_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.segments.footers import read_segment
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing.segment_writer import FLUSH_SECONDS
from tests.collector.cli.collect_command import environment
from tests.schema.views.test_identities import LEDGER_IDENTITIES, broken_identities

pytest.importorskip("vllm")

ROOT = Path(__file__).parents[3]
NUM_KILLS = int(os.environ.get("RADIXFLOW_NUM_KILLS", "6"))
NOTED = ("registrations", "rows", "rounds", "requests")
"""Tables whose rows are noted as they happen; those of the others are written in the same flushes."""
NOTE = struct.Struct("<qqhh")  # as killed_worlds.py writes it
SECOND = 1_000_000_000
HARMLESS = (
    "manifest.json: The recording did not come to its end, the run is incomplete; not closed: engine.",
    "A file was being written when the recording ended.",
)


@dataclass(frozen=True)
class Killed:
    """One killed recording: its run, and for some tables the moments (ns) at which the recorder learnt of each row."""

    run: Path
    killed_ns: int
    handed_over: dict[str, list[int]]
    starved_ns: int
    """Of its last two seconds, how long its writer waited for a processor that others had."""

    def lost_ns(self) -> int:
        """Age of the oldest row that is missing, when the process was killed; 0 if none is. Rows come in order."""
        oldest = self.killed_ns
        for table in NOTED:
            moments = self.handed_over[table]
            segments = [read_segment(path, ALL_TABLES[table]) for path in RunDirectory(self.run).segments(table)]
            assert not [segment.fault for segment in segments if segment.fault]
            num_rows = sum(segment.num_rows for segment in segments if segment.writer == "engine")
            assert num_rows <= len(moments), "rows of which nobody learnt"
            oldest = min([oldest, *moments[num_rows : num_rows + 1]])
        return self.killed_ns - oldest


def kill_recordings(folder: Path, num_kills: int, flush_seconds: float) -> list[Killed]:
    """Kill so many recordings, and let their last signs of life be a minute old."""
    command = [sys.executable, "-m", "tests.collector.odd_runs.killed_worlds", str(folder), str(num_kills)]
    paths = os.pathsep.join([str(ROOT / ".import_root"), str(ROOT)])
    ended = subprocess.run(
        [*command, str(flush_seconds)], cwd=ROOT, env=environment(PYTHONPATH=paths), capture_output=True, text=True,
        timeout=500,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    kills = [map(int, line.split()) for line in ended.stdout.splitlines() if line[0].isdigit()]
    return [read_killed(folder / str(seed), killed_ns) for seed, killed_ns in kills]


def read_killed(folder: Path, killed_ns: int) -> Killed:
    for each in [folder / "run" / "manifest.json", *(folder / "run" / "writers").glob("*.json")]:
        os.utime(each, (time.time() - 60, time.time() - 60))
    handed_over: dict[str, list[int]] = {table: [] for table in ALL_TABLES}
    waits = []
    for moment, waited_ns, table, num_rows in NOTE.iter_unpack((folder / "notes").read_bytes()):
        handed_over[list(ALL_TABLES)[table]] += [moment] * num_rows
        if moment > killed_ns - 2 * SECOND:
            waits.append(waited_ns)
    return Killed(folder / "run", killed_ns, handed_over, waits[-1] - waits[0])


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> list[Killed]:
    return kill_recordings(tmp_path_factory.mktemp("kills"), NUM_KILLS, FLUSH_SECONDS)


def test_at_most_one_second_is_missing(killed: list[Killed]) -> None:
    lost = sorted(each.lost_ns() / 1e6 for each in killed)
    starved = max(each.starved_ns for each in killed) / 1e6
    print(f"{len(lost)} kills: the last {lost[len(lost) // 2]:.0f} ms are missing (median; {lost[-1]:.0f} ms at most)")
    print(f"in the two seconds before, others had the processor for {starved:.0f} ms at most")
    assert len(lost) == NUM_KILLS
    assert max(each.lost_ns() - each.starved_ns for each in killed) <= SECOND


def test_a_writer_that_waits_longer_would_be_found(tmp_path: Path) -> None:
    """The control: the same, with a writer that lets rows wait for three seconds."""
    assert max(each.lost_ns() - each.starved_ns for each in kill_recordings(tmp_path, 4, 3.0)) > SECOND


def test_every_killed_run_opens_with_whole_rounds_and_says_that_it_is_incomplete(killed: list[Killed]) -> None:
    with open_runs([each.run for each in killed]) as connection:
        rows = connection.execute("SELECT run, count(*) FROM run_summary WHERE num_rounds > 0 GROUP BY run").fetchall()
        assert len(rows) > NUM_KILLS // 2  # the others were killed before their first segment
        assert connection.execute("SELECT * FROM ledger_faults").fetchall() == []
    for each in killed if NUM_KILLS >= 50 else killed[:8]:  # a check takes longer than a kill
        said = [str(fault) for fault in check_run(each.run)]
        assert said[0] == HARMLESS[0]
        assert [fault for fault in said if not fault.endswith(HARMLESS)] == [], each.run


def test_every_killed_run_is_repaired(killed: list[Killed]) -> None:
    num_revived = 0
    for each in killed[:6]:
        lost_ns = each.lost_ns()
        repair_run(each.run)
        assert RunDirectory(each.run).unfinished_files() == []
        assert each.lost_ns() <= lost_ns
        with open_runs([each.run]) as connection:  # of requests that were alive there are rows, too
            ((num_missing,),) = connection.execute(
                "SELECT count(*) FROM registrations WHERE request NOT IN (SELECT request FROM requests)"
            ).fetchall()
            ((num_unfinished,),) = connection.execute(
                "SELECT count(*) FROM requests WHERE outcome = 'unfinished'"
            ).fetchall()
            assert broken_identities(connection, LEDGER_IDENTITIES) == {}
        assert num_missing == 0
        num_revived += num_unfinished
        (said,) = [str(fault) for fault in check_run(each.run) if "At most its last second" not in str(fault)]
        assert "the run is incomplete (repaired " in said
        assert repair_run(each.run).done == []
    assert num_revived > 0
