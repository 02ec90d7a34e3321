"""An engine that is killed while it stands still: the repair makes the row that was never written, once."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from radixflow.schema.checking import repair as repair_module
from radixflow.schema.checking.check import check_run
from radixflow.schema.checking.repair import repair_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import STALE_SECONDS
from radixflow.schema.tables import ALL_TABLES

ROOT = Path(__file__).parents[3]


def said(run: Path) -> dict[str, Any] | None:
    """The stall that the engine's status tells of."""
    try:
        stall = json.loads((run / "writers" / "engine.json").read_text())["stall"]
    except (OSError, KeyError):
        return None
    return stall if stall and stall["num_steps"] > 50 else None


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("killed") / "run"
    environment = os.environ | {"PYTHONPATH": f"{ROOT / '.import_root'}:{ROOT}"}
    words = [sys.executable, "-m", "tests.collector.streams.stalled_process", str(run)]
    with subprocess.Popen(words, env=environment, cwd=ROOT) as process:
        deadline = time.monotonic() + 180
        while said(run) is None:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    for each in [run / "manifest.json", *(run / "writers").glob("*.json")]:
        os.utime(each, (time.time() - STALE_SECONDS - 1,) * 2)
    return run


def stalls_of(run: Path) -> list[tuple[Any, ...]]:
    with open_runs([run]) as connection:
        return connection.execute(f"SELECT {', '.join(ALL_TABLES['stalls'].names)} FROM stalls").fetchall()


def copy_of(run: Path, target: Path) -> Path:
    subprocess.run(["cp", "-a", str(run), str(target)], check=True)
    return target


def test_the_row_is_made_from_the_last_status_and_made_once(killed: Path, tmp_path: Path) -> None:
    run = copy_of(killed, tmp_path / "run")
    stall = said(run)
    assert stall is not None and stalls_of(run) == []
    done = repair_run(run).done
    assert "The recording was killed in a stall; its row was made from the last status." in done
    row = tuple(stall[name] for name in ALL_TABLES["stalls"].names)
    assert stalls_of(run) == [row]
    faults = [str(fault) for fault in check_run(run)]
    assert all("incomplete" in fault or "did not close" in fault or "killed" in fault for fault in faults), faults
    with open_runs([run]) as connection:
        found = connection.execute("SELECT head_request_id, stop_cause, num_steps FROM stall_times").fetchall()
        ((num_empty,),) = connection.execute("SELECT num_empty_steps FROM run_summary").fetchall()
    assert found == [("giant", "larger_than_pool", stall["num_steps"])] and num_empty >= stall["num_steps"]
    assert repair_run(run).done == [] and stalls_of(run) == [row]


def test_a_repair_that_leaves_the_stall_out_would_be_found(
    killed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control arm."""
    monkeypatch.setattr(repair_module, "open_stalls", lambda run: [])
    run = copy_of(killed, tmp_path / "run")
    repair_run(run)
    assert stalls_of(run) == []


def test_a_status_that_says_nonsense_spoils_no_repair(killed: Path, tmp_path: Path) -> None:
    run = copy_of(killed, tmp_path / "run")
    status = run / "writers" / "engine.json"
    times = (status.stat().st_atime, status.stat().st_mtime)
    status.write_text(json.dumps(json.loads(status.read_text()) | {"stall": {"start_ns": "soon", "num_steps": None}}))
    os.utime(status, times)
    missing = repair_run(run).missing
    assert stalls_of(run) == [] and any("does not fit" in sentence for sentence in missing)
