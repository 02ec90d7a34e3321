"""Import paths and commands that others rely on are there; CONTRIBUTING.md lists them."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.trees import ROOT, run_in_tree, tracked_files

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
SECTION = CONTRIBUTING[CONTRIBUTING.index("\n## What stays valid\n") :].split("\n## ")[1]
NAMES = re.findall(r"^(radixflow\.[\w.]+)$", SECTION, re.MULTILINE)
MODULES = re.findall(r"python -m (radixflow\.[\w.]+)", SECTION)
IMPORT_EACH = """
import importlib, json
def outcome(name):
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute).__qualname__
    except Exception as error:
        return repr(error)
print(json.dumps({name: outcome(name) for name in sys.argv[1:]}))
"""


def documented_classes() -> set[str]:
    """What README and docs give to vLLM as a scheduler or worker class."""
    texts = [(ROOT / path).read_text() for path in tracked_files("README.md", "docs/*.md")]
    return {name for text in texts for name in re.findall(r"--(?:scheduler|worker)-cls\s+(radixflow\.[\w.]+)", text)}


@pytest.fixture(scope="module")
def imported() -> dict[str, str]:
    """Each name to what importing it brought: its own name, or the error. One process, since vLLM takes long."""
    result = run_in_tree(ROOT, IMPORT_EACH, *NAMES, "radixflow.collector.policies.NoScheduler")
    assert result.returncode == 0, result.stderr
    outcomes: dict[str, str] = json.loads(result.stdout.splitlines()[-1])
    return outcomes


def test_the_list_holds_what_the_documentation_and_the_collector_hand_out() -> None:
    from radixflow.collector.engines.vllm_arguments import RECORDED_SCHEDULER, RECORDED_WORKER

    assert documented_classes() >= {"radixflow.collector.policies.RadixFlowScheduler"}
    assert documented_classes() | {*RECORDED_SCHEDULER.values(), *RECORDED_WORKER.values()} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_can_be_imported(imported: dict[str, str], name: str) -> None:
    if name.endswith("RecordedGPUWorker") and importlib.util.find_spec("torchvision") is None:
        pytest.skip("the CPU build of vLLM cannot import its GPU worker")
    assert imported[name] == name.rpartition(".")[2]


def test_a_name_that_went_away_is_found(imported: dict[str, str]) -> None:
    assert "has no attribute 'NoScheduler'" in imported["radixflow.collector.policies.NoScheduler"]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_there_to_be_started(module: str) -> None:
    assert importlib.util.find_spec(module) is not None


def test_commands_are_installed_under_their_names() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert set(scripts) == {"radixflow-collect", "radixflow-report"}
    assert all(f"`{command}`" in SECTION for command in scripts)
    (app,) = re.findall(r"`streamlit run ([\w/.]+)`", SECTION)
    assert (ROOT / app).is_file()
    folder = Path(sys.executable).parent
    assert all((folder / command).is_file() for command in scripts)
