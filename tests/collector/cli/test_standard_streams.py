"""Streams that are closed, full, or whose reader has gone: no traceback, and the exit code says what was found."""

import subprocess
from pathlib import Path

import pytest

from radixflow.schema.errors import ExitCode
from tests import builders
from tests.collector.cli.collect_command import COMMAND, environment


def shell(line: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", f'set -o pipefail; "$@" {line}', "bash", *COMMAND, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment())


@pytest.fixture
def broken_run(tmp_path: Path) -> Path:
    return builders.broken_run(tmp_path)


def test_the_reader_of_stdout_goes(broken_run: Path) -> None:
    result = shell("| true", "check", broken_run)
    assert (result.returncode, result.stderr) == (ExitCode.FAULTS, "")


def test_stdout_is_closed(broken_run: Path) -> None:
    result = shell(">&-", "check", broken_run)
    assert (result.returncode, result.stdout, result.stderr) == (ExitCode.FAULTS, "", "")


def test_stdout_is_full(broken_run: Path) -> None:
    result = shell("> /dev/full", "check", broken_run)
    assert result.returncode == ExitCode.OUTPUT
    assert result.stderr == "radixflow-collect: Cannot write to stdout: No space left on device.\n"


def test_stderr_is_closed(tmp_path: Path) -> None:
    result = shell("2>&-", "check", tmp_path / "nowhere")
    assert (result.returncode, result.stdout, result.stderr) == (ExitCode.USAGE, "", "")


def test_a_fault_in_a_run_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = builders.empty_run(tmp_path)
    text = (path / "manifest.json").read_text()
    (path / "manifest.json").write_text(text.replace('"faults": []', r'"faults": ["\u001b[2J\nrun: all is well"]'))
    result = shell("", "check", path)
    assert "all is well" in result.stdout
    assert "\x1b" not in result.stdout
    assert all(line.startswith(str(path)) for line in result.stdout.splitlines())
