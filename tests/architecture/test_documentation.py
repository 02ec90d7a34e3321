"""What README.md tells a newcomer is what the code does."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from radixflow.collector.cli.__main__ import COMMANDS
from radixflow.collector.policies.catalog import ALIASES
from radixflow.schema.errors import ExitCode
from tests.architecture.trees import ROOT

README = (ROOT / "README.md").read_text()
# Options of vLLM, make and pip that the README shows; the others must be ours.
NOT_OURS = {
    "--tensor-parallel-size",
    "--port",
    "--mamba-cache-mode",
    "--enable-prefix-caching",
    "--scheduler-cls",
    "--upgrade",
    "--",
}


def help_of(module: str, *words: str) -> str:
    command = [sys.executable, "-m", module, *words, "--help"]
    environment = {"PYTHONPATH": str(ROOT / ".import_root"), "PATH": "/usr/bin:/bin", "COLUMNS": "120"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def unknown_options(text: str, helps: str) -> set[str]:
    """Options named in a text that no help knows."""
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text))
    return named - set(re.findall(r"--[a-z][\w-]*", helps)) - NOT_OURS


@pytest.mark.parametrize("policy", ALIASES)
def test_every_policy_is_named(policy: str) -> None:
    assert f"`{policy}`" in README


@pytest.mark.parametrize("code", ExitCode)
def test_every_exit_code_is_told(code: ExitCode) -> None:
    assert f"\n| {int(code)} | " in README


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"record"}))
def test_every_command_is_shown(command: str) -> None:
    assert f"radixflow-collect {command} " in README


def test_options_exist() -> None:
    helps = (
        help_of("radixflow.collector.cli")
        + help_of("radixflow.collector.cli", "attach")
        + help_of("radixflow.app.report.cli")
        + "--model --runs"
    )
    assert "--policy" in helps
    assert unknown_options(README, helps) == set()
    assert unknown_options("run it with --no-such-option", helps) == {"--no-such-option"}


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_links_and_paths_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    paths = re.findall(r"`((?:app|collector|schema|tests|scripts|requirements|docs)/[\w./-]*)`", text)
    assert links or paths
    assert [path for path in links + paths if not (ROOT / path).exists()] == []
