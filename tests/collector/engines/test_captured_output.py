"""The chatter of the engine stays off our output, and the cause of a failure is found in it."""

import os
import subprocess
import sys
from pathlib import Path

from radixflow.collector.engines.captured_output import CapturedOutput, find_cause

LOG = """\
INFO 11-29 21:00:00 [core.py:100] starting
(EngineCore pid=7) ERROR 11-29 21:00:01 [core.py:1492] EngineCore failed to start.
(EngineCore pid=7) ERROR 11-29 21:00:01 [core.py:1492] Traceback (most recent call last):
(EngineCore pid=7) ERROR 11-29 21:00:01 [core.py:1492]   File "core.py", line 1, in run
(EngineCore pid=7) ERROR 11-29 21:00:01 [core.py:1492] ValueError: No available memory: 3 GiB
Traceback (most recent call last):
RuntimeError: Engine core initialization failed. See root cause above.
"""


def test_the_cause_is_the_root_and_not_its_consequences() -> None:
    assert find_cause(LOG) == "ValueError: No available memory: 3 GiB"
    assert find_cause("all is well") is None
    assert find_cause("torch.OutOfMemoryError: CUDA out of memory.\n") == "OutOfMemoryError: CUDA out of memory."
    assert find_cause("RuntimeError: Engine core initialization failed. See root cause above.") is None


def test_output_of_this_process_and_of_children_is_kept(tmp_path: Path) -> None:
    code = f"""
import os, subprocess, sys
from pathlib import Path
from radixflow.collector.engines.captured_output import CapturedOutput
print("before")
with CapturedOutput() as output:
    print("chatter")
    os.write(2, b"deep chatter\\n")
    subprocess.run([sys.executable, "-c", "print('child chatter')"])
    print("words", file=output.people)
    print("data", file=output.data)
    sys.stdout.flush()
    assert sorted(output.text().splitlines()) == ["chatter", "child chatter", "deep chatter"], output.text()
    assert output.save(Path({str(tmp_path / "log")!r}))
print("after")
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=_environment())
    assert (result.stdout, result.stderr) == ("before\ndata\nafter\n", "words\n")
    assert "child chatter" in (tmp_path / "log").read_text()


def test_verbose_shows_everything_on_stderr() -> None:
    code = """
import subprocess, sys
from radixflow.collector.engines.captured_output import CapturedOutput
with CapturedOutput(verbose=True) as output:
    subprocess.run([sys.executable, "-c", "print('child chatter')"])
    print("data", file=output.data)
    assert output.text() == "" and output.cause() is None
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=_environment())
    assert (result.stdout, result.stderr) == ("data\n", "child chatter\n")


def test_an_empty_log_is_not_kept(tmp_path: Path) -> None:
    with CapturedOutput() as output:
        assert not output.save(tmp_path / "log")


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[3] / ".import_root")}
