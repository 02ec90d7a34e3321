"""A real ``vllm serve``, recorded, that is brought to a standstill: Live says so while it lasts, the run afterwards."""

import os
import shlex
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")
pytest.importorskip("openai")

from radixflow.app.queries import stalls
from radixflow.app.queries.live import LiveRun
from radixflow.app.sentences.stalls import live_stall_sentence, stall_findings
from radixflow.collector.instrumentation.attached import control
from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from tests.collector.cli.collect_command import IMPORT_ROOT, collect
from tests.collector.engines.test_attached_server import Server, ask, free_port

pytestmark = [pytest.mark.engine, pytest.mark.long]
PROMPT_TOKENS = 4_000
WITHIN_SECONDS = 2.0


class Hopeless(threading.Thread):
    """A client that asks for more than there are blocks left for, and hangs up after a while."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server = server

    def run(self) -> None:
        prompt: Any = [5 + number % 400 for number in range(PROMPT_TOKENS)]
        client = self._server.client.with_options(timeout=20)
        try:
            client.completions.create(model="tiny-hybrid", prompt=prompt, max_tokens=8, temperature=0)
        except Exception as error:
            self.error = error


def test_a_server_that_stands_still_is_seen_live_and_named_afterwards(tmp_path: Path) -> None:
    run = tmp_path / "tiny-hybrid" / "served-0001" / "radix"
    printed = collect("attach", "-o", tmp_path, "--", "tiny-hybrid", "--port", str(free_port()))
    assert printed.returncode == 0, printed.stderr
    words = shlex.split(printed.stdout)
    words[words.index("--scheduler-cls") + 1] = "tests.collector.engines.leaking_scheduler.LeakingScheduler"
    port, paths = int(words[words.index("--port") + 1]), os.pathsep.join(map(str, (IMPORT_ROOT, IMPORT_ROOT.parent)))
    server = Server(["env", *words], port, tmp_path / "log", PYTHONPATH=paths)
    try:
        server.answers([[7] * 100])
        followed = LiveRun(str(run), str(tmp_path))
        assert followed.stall is None
        client = Hopeless(server)
        client.start()
        server.wait_for(lambda: followed.stall is not None and followed.stall["num_steps"] > 100, 120)
        stall, now_ns = followed.stall, time.monotonic_ns()
        assert stall is not None
        # the engine runs here, so its clock is ours: how old is what Live reads?
        age_s = (now_ns - stall["said_ns"]) / 1e9
        sentence = live_stall_sentence(stall)
        print(f"the status is {age_s:.2f} s old: {sentence}")
        assert age_s < WITHIN_SECONDS
        assert sentence is not None and "needs more blocks than are free" in sentence
        time.sleep(2)
        later = followed.stall
        assert later is not None and later["start_ns"] == stall["start_ns"] and later["num_steps"] > stall["num_steps"]
        client.join(60)  # it hangs up: the request is aborted, and the standstill is over
        server.wait_for(lambda: followed.stall is None, 30)
        control.write_word(tmp_path / "tiny-hybrid" / "served.control", control.STOP)
        server.wait_for(lambda: RunDirectory(run).state == "complete", 60)
        server.wait_for(lambda: not list(RunDirectory(run).unfinished_files()))  # a worker merges after its close
    finally:
        server.end()
    assert (RunDirectory(run).state, check_run(run)) == ("complete", [])
    with open_runs([run]) as connection:
        (finding,) = stall_findings(stalls.summary(connection), stalls.reasons(connection))
    print(finding)
    assert "needs more blocks than are free" in finding
    ((num_steps,),) = ask(run, "SELECT max(num_steps) FROM stalls WHERE stop_cause = 'pool_in_use'")
    assert num_steps > later["num_steps"]
