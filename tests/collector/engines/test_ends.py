"""An engine that dies, does not start, or is stopped: what was recorded is kept and says that it is incomplete."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from radixflow.collector.models.model_resolution import resolve_model
from radixflow.schema.errors import ExitCode
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from tests.collector.cli.collect_command import COMMAND, assert_one_sentence, collect, environment

pytest.importorskip("vllm")
pytestmark = pytest.mark.engine
ENDLESS = ["--stream", "s", "--experiment", "e", "--num-groups", "2000", "--rate", "4"]


def start(*words: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
        start_new_session=True,
    )  # fmt: skip


def wait_for(condition: Callable[[], bool], process: "subprocess.Popen[str]", seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)


def written(path: Path, writer: str, table: str) -> int:
    try:
        return int(json.loads((path / "writers" / f"{writer}.json").read_text())["rows_written"].get(table, 0))
    except (OSError, ValueError, KeyError):
        return 0


def group_is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_an_engine_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "e" / "s" / "radix"
    process = start("--model", "tiny-hybrid", "-o", tmp_path, *ENDLESS)
    wait_for(lambda: written(path, "engine", "rounds") >= 3 and written(path, "client", "offers") >= 3, process)
    os.kill(int(json.loads((path / "writers" / "engine.json").read_text())["pid"]), signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=90)
    assert process.returncode == ExitCode.ENGINE, stderr
    assert stdout == ""
    assert_one_sentence(stderr.splitlines(keepends=True)[-1])
    assert "The engine failed under radix" in stderr
    assert "Traceback" not in stderr
    run = RunDirectory(path)
    assert run.state == "incomplete"
    assert run.manifest.state == "incomplete"
    assert any("engine failed" in fault for fault in run.manifest.faults)
    assert not (path.parent / "radixflow-immediate").exists()  # a failed arm is not followed by others
    outcomes = dict(open_runs([path]).execute("SELECT outcome, count(*) FROM offers GROUP BY 1").fetchall())
    assert outcomes["completed"] >= 3
    assert sum(outcomes.values()) == 8000
    assert open_runs([path]).execute("SELECT num_rounds FROM run_summary").fetchall()[0][0] >= 3
    wait_for_the_end_of(process.pid)


def test_a_client_that_is_killed_takes_its_engine_along(tmp_path: Path) -> None:
    path = tmp_path / "e" / "s" / "radix"
    process = start("--model", "tiny-hybrid", "-o", tmp_path, *ENDLESS)
    wait_for(lambda: written(path, "engine", "rounds") >= 3, process)
    process.kill()
    process.communicate(timeout=90)
    wait_for_the_end_of(process.pid, seconds=60)
    assert RunDirectory(path).writers()["engine"]["closed"]  # the engine process ended in an orderly way
    assert open_runs([path]).execute("SELECT num_rounds FROM run_summary").fetchall()[0][0] >= 3


def test_control_c_while_the_engine_starts(tmp_path: Path) -> None:
    """vLLM swallows the KeyboardInterrupt there, and would wait for its dead engine process for ten minutes."""
    process = start("--model", "tiny-hybrid", "-o", tmp_path, *ENDLESS)
    path = tmp_path / "e" / "s" / "radix"
    wait_for(lambda: (path / "manifest.json").exists() and num_children(process.pid) >= 2, process)
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED, stderr
    assert_one_sentence(stderr.splitlines(keepends=True)[-1])
    assert RunDirectory(path).manifest.state == "incomplete"
    wait_for_the_end_of(process.pid)


def num_children(pid: int) -> int:
    return len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def test_control_c_stops_cleanly_with_vllm_untouched(tmp_path: Path) -> None:
    """Also: a model in a folder, which has no defaults of ours, and the policy that has no recorder."""
    path = tmp_path / "e" / "s" / "stock"
    model = resolve_model("tiny-hybrid").prepare()
    options = ["--enforce-eager", "--max-model-len", "12000", "--mamba-cache-mode", "align", "--enable-prefix-caching"]
    process = start(
        "--model", model, "--policy", "stock", "-o", tmp_path, *ENDLESS, *options, "--kv-cache-memory-bytes", "1G"
    )
    wait_for(lambda: written(path, "client", "offers") >= 3, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of ours
    stdout, stderr = process.communicate(timeout=90)
    assert process.returncode == ExitCode.INTERRUPTED, stderr
    assert stdout == ""
    assert_one_sentence(stderr.splitlines(keepends=True)[-1])
    assert "Traceback" not in stderr
    run = RunDirectory(path)
    assert run.manifest.state == "incomplete"
    assert run.writers()["client"]["closed"]
    assert "engine" not in run.writers()
    outcomes = dict(open_runs([path]).execute("SELECT outcome, count(*) FROM offers GROUP BY 1").fetchall())
    assert outcomes["completed"] >= 3
    assert sum(outcomes.values()) == 8000
    wait_for_the_end_of(process.pid)


def test_an_engine_that_does_not_start(tmp_path: Path) -> None:
    words = ["--model", "tiny-attention", "--policy", "radix", "-o", tmp_path, "--num-groups", "1", "--stream", "s"]
    result = collect(*words, VLLM_CPU_KVCACHE_SPACE="1000000")  # GiB
    assert result.returncode == ExitCode.ENGINE, result.stderr
    assert_one_sentence(result.stderr.splitlines(keepends=True)[-1])
    assert "ValueError: Available memory" in result.stderr  # the root of it, not what other processes say of it
    assert "Traceback" not in result.stderr
    path = tmp_path / "tiny-attention" / "s" / "radix"
    assert RunDirectory(path).manifest.state == "incomplete"
    assert "Traceback" in (path / "engine.log").read_text()  # the whole story is kept for the person who needs it


def wait_for_the_end_of(group: int, seconds: float = 30) -> None:
    """No process of the command outlives it for long."""
    deadline = time.monotonic() + seconds
    while not group_is_gone(group):
        assert time.monotonic() < deadline
        time.sleep(0.1)
