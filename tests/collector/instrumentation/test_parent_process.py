"""A process whose parent is killed ends by itself; without the watch it lives on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.collector.cli.collect_command import environment

PARENT = """
import multiprocessing, time
from radixflow.collector.instrumentation import parent_process

def child(is_watching, ready):
    if is_watching:
        parent_process.end_with_parent()
    ready.set()
    time.sleep(60)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    process = context.Process(target=child, args=(IS_WATCHING, ready))
    process.start()
    ready.wait()
    print(process.pid, flush=True)
    time.sleep(60)
"""


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("is_watching", [True, False])
def test_a_process_whose_parent_is_killed(is_watching: bool, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT.replace("IS_WATCHING", str(is_watching)))
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment())
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + (20 if is_watching else 2)
    while is_there(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    survived = is_there(child)
    if survived:
        os.kill(child, signal.SIGKILL)
    assert survived != is_watching
