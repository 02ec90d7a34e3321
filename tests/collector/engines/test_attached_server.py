"""A real ``vllm serve`` on the CPU, recorded while real clients load it: the OpenAI client and ``vllm bench serve``."""

import json
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")
pytest.importorskip("openai")

import openai

from radixflow.app.queries.run_catalog import fingerprint, list_runs
from radixflow.collector.engines import vllm_command
from radixflow.collector.models.model_resolution import resolve_model
from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from tests.collector.cli.collect_command import COMMAND, collect, environment

pytestmark = [pytest.mark.engine, pytest.mark.long]


def prompts() -> list[list[int]]:
    """Siblings on shared stems of many lengths, so that most of them resume from a recurrent state."""
    rng = random.Random(0)
    stems = [[rng.randrange(5, 500) for _ in range(rng.randrange(500, 2500))] for _ in range(6)]
    return [stem + [rng.randrange(5, 500) for _ in range(12)] for stem in stems for _ in range(4)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A started server and a client of it."""

    def __init__(self, command: list[str], port: int, log: Path, **variables: str) -> None:
        self.port, self.log = port, log
        variables |= {"VLLM_CPU_KVCACHE_SPACE": "1"}
        with log.open("w") as file:
            self.process = subprocess.Popen(
                command, stdout=file, stderr=file, env=environment(**variables), start_new_session=True
            )
        self.wait_for(self._answers, 300)
        self.client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1) as answer:
                return int(answer.status) == 200
        except OSError:
            return False

    def wait_for(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.1)

    def answers(self, some: list[list[int]]) -> list[str]:
        """Greedy answers, one request after another: nothing hangs on what else is in a round."""
        return [self._complete(prompt).choices[0].text for prompt in some]

    def burst(self, some: list[list[int]]) -> None:
        """All at once, as one request of many prompts."""
        self._complete(some)

    def _complete(self, prompt: Any) -> Any:
        return self.client.completions.create(
            model="tiny-hybrid", prompt=prompt, max_tokens=8, temperature=0, extra_body={"ignore_eos": True}
        )

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(30)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words of a printed line for a server of which a third of the rounds are kept, in runs of two seconds."""
    output = tmp_path_factory.mktemp("printed")
    options = ["--sample-rounds", "33%", "--max-duration", "2s", "--rotate", "2"]
    result = collect("attach", "-o", output, *options, "--", "tiny-hybrid", "--port", str(free_port()))
    assert result.returncode == 0, result.stderr
    return shlex.split(result.stdout)


@pytest.fixture(scope="module")
def expected(printed: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a server that nobody records answers; it is gone afterwards."""
    words = printed[: printed.index("--scheduler-cls")]
    block_size = printed[printed.index("--block-size") :][:2]  # without it, wrong answers, recorded or not
    log = tmp_path_factory.mktemp("alone") / "log"
    port = int(words[words.index("--port") + 1])
    server = Server(["env", *words, *block_size], port, log)
    try:
        return server.answers(prompts())
    finally:
        server.end()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server behind ``attach --exec``, recorded whole."""
    port = free_port()
    command = [*COMMAND, "attach", "--exec", "-o", str(tmp_path), "--", "tiny-hybrid", "--port", str(port)]
    started = Server(command, port, tmp_path / "log")
    yield started
    started.end()


def ask(path: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = open_runs([path])
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def bench(port: int) -> str:
    """``vllm bench serve`` with random prompts."""
    words = ["bench", "serve", "--backend", "openai", "--port", str(port), "--model", "tiny-hybrid", "--tokenizer",
             resolve_model("tiny-hybrid").prepare(), "--dataset-name", "random", "--random-input-len", "300",
             "--random-output-len", "4", "--num-prompts", "20", "--request-rate", "20"]  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-m", vllm_command.MODULE, *words], capture_output=True, text=True, timeout=240,
        env=environment(HF_HUB_OFFLINE="1"),
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_a_server_is_recorded_from_its_first_request_to_its_last(
    server: Server, expected: list[str], tmp_path: Path
) -> None:
    first, second = (tmp_path / "tiny-hybrid" / f"served-{number:04d}" / "radix" for number in (1, 2))
    assert server.answers(prompts()) == expected
    assert len(set(expected)) > 10  # a model that answers everything alike would agree with itself whatever its state
    server.burst(prompts())

    # live: the app lists and follows it
    assert [choice.path for choice in list_runs(str(tmp_path)).choices] == [str(first)]
    assert RunDirectory(first).state == "recording"
    server.wait_for(lambda: ask(first, "SELECT num_requests_finished FROM run_summary") == [(48,)])
    before, rounds = fingerprint((str(first),)), ask(first, "SELECT count(*) FROM rounds")
    assert "Successful requests:" in bench(server.port)
    server.wait_for(lambda: ask(first, "SELECT count(*) FROM rounds") > rounds)
    assert fingerprint((str(first),)) != before

    # stop, serve on unrecorded, start
    server.process.send_signal(signal.SIGUSR2)
    server.wait_for(lambda: RunDirectory(first).state == "complete")
    assert check_run(first) == []
    recorded = ask(first, "SELECT count(*) FROM requests WHERE outcome = 'finished'")
    assert recorded[0][0] >= 48 + 20
    assert ask(first, "SELECT num_blocked_requests > 0 FROM run_summary") == [(True,)]  # the burst
    assert ask(first, "SELECT count(*) FROM offers") == [(0,)]
    assert ask(first, "SELECT count(latency_ms), count(sent_ms), count(waiting_ms) >= 68 FROM request_lives") == [
        (0, 0, True)
    ]
    assert ask(first, "SELECT count(DISTINCT round) FROM spans WHERE component = 'execute'") == ask(
        first, "SELECT count(*) FROM rounds"
    )
    server.burst(prompts()[:4])
    server.process.send_signal(signal.SIGUSR1)
    server.wait_for(lambda: (second / "manifest.json").exists() and RunDirectory(second).state == "recording")
    assert server.answers(prompts()[-3:]) == expected[-3:]

    server.process.terminate()
    assert server.process.wait(60) == 0
    assert (RunDirectory(second).state, check_run(second)) == ("complete", [])
    assert ask(second, "SELECT num_requests_finished FROM run_summary") == [(3,)]
    assert "served-0002/radix is complete" in server.log.read_text()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two ranks need two cores")
def test_every_rank_writes_its_own_spans(tmp_path: Path) -> None:
    """Tensor parallelism over two processes, a core for each."""
    port = free_port()
    command = [*COMMAND, "attach", "--exec", "-o", str(tmp_path), "--", "tiny-hybrid", "--port", str(port)]
    cores = "|".join(str(core) for core in sorted(os.sched_getaffinity(0))[:2])
    server = Server([*command, "--tensor-parallel-size", "2"], port, tmp_path / "log", VLLM_CPU_OMP_THREADS_BIND=cores)
    run = tmp_path / "tiny-hybrid" / "served-0001" / "radix"
    try:
        server.burst(prompts()[:8])
        server.process.terminate()
        assert server.process.wait(60) == 0
    finally:
        server.end()
    assert (RunDirectory(run).state, check_run(run)) == ("complete", [])
    assert {"engine", "worker0", "worker1"} == set(RunDirectory(run).writers())
    ((num_rounds,),) = ask(run, "SELECT count(*) FROM rounds")
    by_rank = """SELECT process_rank, component, count(*), count(DISTINCT round) FROM spans
                 WHERE component IN ('execute', 'forward') GROUP BY ALL ORDER BY ALL"""
    assert ask(run, by_rank) == [
        (rank, component, num_rounds, num_rounds) for rank in (0, 1) for component in ("execute", "forward")
    ]
    # each has its own clock readings: the same interval twice would be one rank written under two names
    both = """SELECT count(*) FROM spans AS a JOIN spans AS b USING (round, component, start_ns, end_ns)
              WHERE a.process_rank = 0 AND b.process_rank = 1"""
    assert num_rounds > 8 and ask(run, both) == [(0,)]


def test_a_printed_line_records_a_sample_run_by_run_until_its_engine_is_killed(
    printed: list[str], expected: list[str]
) -> None:
    folder = Path(json.loads(printed[-1])["radixflow"]["attach"]["folder"])
    server = Server(["env", *printed], int(printed[printed.index("--port") + 1]), folder.parent / "log")
    try:
        assert server.answers(prompts()) == expected
        deadline = time.monotonic() + 6
        while time.monotonic() < deadline:
            server.burst(prompts()[:8])
        server.wait_for(lambda: all(RunDirectory(run).state == "complete" for run in runs_in(folder)[:-1]))
        (pid,) = {RunDirectory(run).writers()["engine"]["pid"] for run in runs_in(folder)[:-1]}
        os.kill(pid, signal.SIGKILL)
        server.process.wait(60)
    finally:
        server.end()
    runs = runs_in(folder)
    assert 2 <= len(runs) <= 3  # the oldest is removed when the one after it is closed
    assert runs[0].parent.name != "served-0001"
    time.sleep(10)  # a recording that says nothing for so long is over
    assert [RunDirectory(run).state for run in runs] == ["complete"] * (len(runs) - 1) + ["incomplete"]
    assert check_run(runs[0]) == []
    kept, counted, sampled = ask(runs[0], "SELECT num_rounds_kept, num_rounds, sampled_fraction FROM run_summary")[0]
    assert 0 < kept < counted
    assert sampled == 0.33


def runs_in(folder: Path) -> list[Path]:
    """The runs of a server whose engine has begun to write, in their order."""
    return sorted(path.parents[1] for path in folder.glob("served-*/radix/writers/engine.json"))
