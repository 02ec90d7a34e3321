"""The arrows of pyproject.toml hold, and import-linter finds each kind of broken one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.architecture.trees import ROOT, copy_tree, run_in_tree

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    return run_in_tree(tree, LINT)


def plant(tree: Path, module: str, line: str) -> None:
    path = tree / module
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(line + "\n")


def test_the_tree_keeps_every_contract() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("app/figures/planted.py", "import radixflow.collector.planted.nothing", "never each other"),
        ("collector/cli/planted.py", "import radixflow.app.planted.nothing", "never each other"),
        ("schema/tables/planted.py", "from radixflow.app.planted import nothing", "never each other"),
        ("schema/tables/planted.py", "from radixflow.collector.planted import nothing", "never each other"),
        ("schema/tables/planted.py", "import streamlit", "neither Streamlit nor Plotly"),
        ("collector/cli/planted.py", "def later() -> None:\n    import plotly", "neither Streamlit nor Plotly"),
        ("app/queries/planted.py", "import torch", "neither vLLM nor torch"),
        ("app/queries/planted.py", "def later() -> None:\n    from vllm import LLM", "neither vLLM nor torch"),
        ("schema/tables/planted.py", "import vllm.config", "neither vLLM nor torch"),
        ("collector/workloads/planted.py", "import torch", "workloads know no engine"),
        ("collector/cli/planted.py", "def later() -> None:\n    import vllm", "the command line leaves vLLM and torch"),
        ("collector/policies/planted.py", "import radixflow.collector.instrumentation", "nothing of recording"),
        ("app/figures/planted.py", "import streamlit", "figures and sentences are pure"),
        ("app/sentences/planted.py", "import radixflow.app.queries", "figures and sentences are pure"),
        ("app/queries/planted.py", "import streamlit", "without Streamlit"),
    ],
)
def test_a_planted_import_breaks_its_contract(tmp_path: Path, module: str, line: str, contract: str) -> None:
    tree = copy_tree(tmp_path)
    for package in ("app", "collector"):
        plant(tree, f"{package}/planted/nothing.py", "nothing = None")
    plant(tree, module, line)
    result = lint_imports(tree)
    assert result.returncode == 1, result.stdout + result.stderr
    broken = [text for text in result.stdout.splitlines() if " BROKEN" in text]
    assert any(contract in text for text in broken), result.stdout
    assert "planted" in result.stdout
