"""Whole engines and their clients, killed (SIGKILL) at random moments of a recording; minutes: make test-kills."""

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from radixflow.schema.checking.check import check_run
from radixflow.schema.checking.repair import repair_run
from radixflow.schema.errors import ExitCode
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import STALE_SECONDS, RunDirectory
from tests.collector.cli.collect_command import collect
from tests.collector.engines.test_ends import ENDLESS, start, wait_for, wait_for_the_end_of, written
from tests.schema.views.test_identities import LEDGER_IDENTITIES, broken_identities

pytest.importorskip("vllm")
pytestmark = pytest.mark.kills
NUM_KILLS = int(os.environ.get("RADIXFLOW_NUM_ENGINE_KILLS", "3"))
SECOND = 1_000_000_000


def number(path: Path, sql: str) -> int:
    with open_runs([path]) as connection:
        return int(connection.execute(sql).fetchall()[0][0])


@pytest.mark.parametrize("seed", range(NUM_KILLS))
def test_a_killed_engine_loses_one_second_at_most(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "e" / "s" / "radix"
    process = start("--model", "tiny-hybrid", "-o", tmp_path, *ENDLESS)
    wait_for(lambda: written(path, "engine", "rounds") >= 3 and written(path, "client", "offers") >= 3, process)
    time.sleep(random.Random(seed).uniform(1.5, 5))
    killed_ns = time.monotonic_ns()
    os.kill(int(json.loads((path / "writers" / "engine.json").read_text())["pid"]), signal.SIGKILL)
    process.communicate(timeout=90)
    assert process.returncode == ExitCode.ENGINE
    wait_for_the_end_of(process.pid)
    old = f"SELECT request_id FROM offers WHERE outcome = 'completed' AND completed_ns < {killed_ns - SECOND}"
    assert number(path, f"SELECT count(*) FROM ({old})") > 0
    assert number(path, f"SELECT count(*) FROM ({old}) WHERE request_id NOT IN (SELECT request_id FROM requests)") == 0
    assert number(path, "SELECT max(update_end_ns) FROM rounds") > killed_ns - 2 * SECOND
    assert_mended(path)


def test_a_killed_client_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "e" / "s" / "radix"
    process = start("--model", "tiny-hybrid", "-o", tmp_path, *ENDLESS)
    wait_for(lambda: written(path, "engine", "rounds") >= 3 and written(path, "client", "offers") >= 3, process)
    process.kill()
    process.communicate(timeout=90)
    refused = collect("repair", path)  # its engine ends by itself, but not at once
    assert refused.returncode == ExitCode.OUTPUT and "recorded" in refused.stderr
    wait_for_the_end_of(process.pid, seconds=60)
    assert RunDirectory(path).living_writers() == []
    time.sleep(STALE_SECONDS + 1)
    assert_mended(path)


def assert_mended(path: Path) -> None:
    """The run opens, says that it is incomplete and nothing worse, and can be repaired."""
    assert "the run is incomplete" in str(check_run(path)[0])
    assert number(path, "SELECT count(*) FROM ledger_faults") == 0
    assert repair_run(path).done
    assert RunDirectory(path).unfinished_files() == []
    assert number(path, "SELECT count(*) FROM registrations WHERE request NOT IN (SELECT request FROM requests)") == 0
    with open_runs([path]) as connection:
        assert broken_identities(connection, LEDGER_IDENTITIES) == {}
    said = [str(fault) for fault in check_run(path)]
    assert f"(repaired {RunDirectory(path).manifest.repaired_utc})" in said[0]
    assert all(fault.startswith("manifest.json: ") for fault in said)
    assert repair_run(path).done == []
