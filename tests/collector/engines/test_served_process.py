"""The process in front of a server: signals, the order of the end, exit codes. The server is a small program here that
makes runs as a recorded engine does; the real one is in ``test_attached_server``."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from radixflow.collector.instrumentation.attached.runs import runs_of_server
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.schema.errors import ExitCode
from radixflow.schema.run_files.run_directory import RunDirectory
from tests.collector.cli.collect_command import environment

SERVER = """
import json, os, signal, sys, time
from radixflow.collector.instrumentation.attached import control, runs, settings
from radixflow.schema.writing.segment_writer import SegmentWriter
told = settings.AttachSettings(**json.loads(sys.argv[1]))
word, writer, run = control.ControlFile(told.control_file), None, None
makes = runs.AttachedRuns(told, runs.ServerFacts())
def begin():
    global writer, run
    run = makes.create()
    writer = SegmentWriter(run.path, "engine")
def end():
    global writer
    writer.close()
    makes.close(run, "stopped")
    writer = None
def terminated(number, frame):
    print("terminated", "recording" if writer else "not recording", flush=True)
    os._exit(0)  # as vLLM ends its engine: no time for a run
signal.signal(signal.SIGTERM, terminated)
begin()
word.tell(control.RECORD)
while True:
    new = word.new_word()
    if new == "stop" and writer: end()
    if new == "record" and not writer: begin()
    if new == "fail": os._exit(3)
    if new == "vanish": os._exit(0)
    time.sleep(0.05)
"""
FRONT = """
import json, os, sys
from radixflow.collector.cli.__main__ import _say
from radixflow.collector.engines.served_process import ServedProcess
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.schema.errors import RadixflowError
settings = AttachSettings(**json.loads(sys.argv[1]))
command = [sys.executable, "-c", sys.argv[2], sys.argv[1]]
try:
    sys.exit(ServedProcess(settings, _say).run(command, os.environ))
except RadixflowError as error:
    _say(str(error))
    sys.exit(error.exit_code)
"""


class Front:
    """The command in front of the small server."""

    def __init__(self, folder: Path) -> None:
        self.settings = AttachSettings(str(folder / "e"), "served", "radix", "made", "one")
        words = [json.dumps(asdict(self.settings)), SERVER]
        self.process = subprocess.Popen(
            [sys.executable, "-c", FRONT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(),
        )  # fmt: skip
        self.wait_for(lambda: self.states() == ["recording"])

    def runs(self) -> list[Path]:
        return [path for path in runs_of_server(self.settings) if (path / "writers" / "engine.json").exists()]

    def states(self) -> list[str]:
        return [RunDirectory(path).state for path in self.runs()]

    def wait_for(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not (self.settings.control_file.parent.is_dir() and condition()):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def end(self) -> tuple[int, str, str]:
        stdout, stderr = self.process.communicate(timeout=60)
        return self.process.returncode, stdout, stderr


@pytest.fixture
def front(tmp_path: Path) -> Front:
    return Front(tmp_path)


def test_signals_stop_and_start_the_recording_and_leave_the_server_alone(front: Front) -> None:
    front.process.send_signal(signal.SIGUSR2)
    front.wait_for(lambda: front.states() == ["complete"])
    front.process.send_signal(signal.SIGUSR1)
    front.wait_for(lambda: front.states() == ["complete", "recording"])
    front.process.terminate()
    code, stdout, stderr = front.end()
    assert (code, stdout) == (ExitCode.OK, "terminated not recording\n")  # the run was closed before the server ended
    assert front.states() == ["complete", "complete"]
    assert stderr.count(" is complete.\n") == 2


def test_control_c_ends_the_server_too(front: Front) -> None:
    front.process.send_signal(signal.SIGINT)
    assert front.end()[0] == ExitCode.INTERRUPTED
    assert front.states() == ["complete"]


def test_a_server_that_is_killed_leaves_a_run_that_says_incomplete(front: Front) -> None:
    os.kill(RunDirectory(front.runs()[0]).writers()["engine"]["pid"], signal.SIGKILL)
    code, _, stderr = front.end()
    assert code == ExitCode.ENGINE
    assert "vllm serve was ended by signal 9; what was recorded is kept." in stderr
    assert front.states() == ["incomplete"]
    assert "The server ended without closing the run." in RunDirectory(front.runs()[0]).manifest.faults


def test_a_server_that_fails_is_told_apart_from_one_that_was_ended(front: Front) -> None:
    front.settings.control_file.write_text("fail\n")
    code, _, stderr = front.end()
    assert code == ExitCode.ENGINE
    assert "vllm serve failed with exit code 3" in stderr


def test_a_server_that_ends_well_but_for_its_engine_has_failed(front: Front) -> None:
    """vLLM's own exit code is 0 when its engine process was killed."""
    front.settings.control_file.write_text("vanish\n")
    code, _, stderr = front.end()
    assert code == ExitCode.ENGINE
    assert "ended without its engine" in stderr
    assert front.states() == ["incomplete"]
