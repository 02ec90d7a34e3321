"""A stream with nothing to run waits for flex's deadline in the real engine process, and spins no core meanwhile."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from radixflow.schema.reading.connection import open_runs
from tests.collector.cli.collect_command import COMMAND, environment

pytest.importorskip("vllm")
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc"),
]
DEADLINE_NS = 4_000_000_000
MARGIN_NS = 300_000_000
"""Left out at both ends of the hold: arrival and release are work."""
MOST_OF_A_CORE = 0.6
STREAM = ("--num-groups", "1", "--branches", "1", "--rate", "inf", "--long-fraction", "0")
Sample = tuple[int, float]
"""Monotonic nanoseconds, and CPU seconds of a process until then."""


class HeldStream:
    """One recorded request that flex held, with samples of the engine's CPU time and of a process that spins."""

    def __init__(self, output: Path) -> None:
        words = ("--model", "tiny-hybrid", "-o", str(output), "--policy", f"state-ready+flex:{DEADLINE_NS // 10**6}ms")
        command = [*COMMAND, *words, *STREAM]
        self.engine: list[Sample] = []
        self.spinner: list[Sample] = []
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment()) as collect:
            while collect.poll() is None and not engine_pids(output):
                time.sleep(0.05)
            with spinning() as spinner:
                while collect.poll() is None:
                    self.engine += [taken for pid in engine_pids(output) for taken in sample(pid)]
                    self.spinner += sample(spinner.pid)
                    time.sleep(0.05)
            assert collect.returncode == 0, collect.stderr.read().decode()  # type: ignore[union-attr]
        connection = open_runs([path.parent for path in output.rglob("manifest.json")])
        (self.registered_ns, self.released_ns) = connection.execute(
            "SELECT registered_ns, released_ns FROM requests"
        ).fetchall()[0]
        self.releases = connection.execute("SELECT detail FROM events WHERE event = 'released'").fetchall()
        connection.close()

    def fraction_of_a_core(self, samples: list[Sample]) -> float:
        """CPU time a second between arrival and release."""
        inside = [s for s in samples if self.registered_ns + MARGIN_NS <= s[0] <= self.released_ns - MARGIN_NS]
        (start_ns, before), (end_ns, after) = inside[0], inside[-1]
        assert end_ns - start_ns > DEADLINE_NS / 2
        return (after - before) / ((end_ns - start_ns) / 1e9)


@contextlib.contextmanager
def spinning() -> Iterator[subprocess.Popen[bytes]]:
    """Control: a process that spins."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield process
        finally:
            process.kill()


def engine_pids(output: Path) -> list[int]:
    """The engine's process once it has said who it is."""
    return [json.loads(file.read_text())["pid"] for file in output.rglob("writers/engine.json")]


def sample(pid: int) -> list[Sample]:
    """User and system time of a process with all its threads; nothing once it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [(time.monotonic_ns(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> HeldStream:
    return HeldStream(tmp_path_factory.mktemp("held"))


def test_the_request_is_released_for_its_deadline(held: HeldStream) -> None:
    assert held.releases == [("deadline",)]
    assert DEADLINE_NS <= held.released_ns - held.registered_ns < 2 * DEADLINE_NS


def test_the_engine_process_sleeps_while_the_request_is_held(held: HeldStream) -> None:
    engine, spinner = held.fraction_of_a_core(held.engine), held.fraction_of_a_core(held.spinner)
    print(f"engine {engine:.2f} cores, spinning process {spinner:.2f} cores")
    assert engine < MOST_OF_A_CORE


def test_a_spinning_process_would_be_caught(held: HeldStream) -> None:
    spinner = held.fraction_of_a_core(held.spinner)
    if spinner < MOST_OF_A_CORE and os.getloadavg()[0] > (os.cpu_count() or 1):
        pytest.skip(f"this machine is so busy that a spinning process gets {spinner:.2f} cores")
    assert spinner > MOST_OF_A_CORE
