"""The arrows of pyproject.toml hold, and import-linter finds each kind of broken one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.architecture.trees import ROOT, copy_tree, run_in_tree

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    return run_in_tree(tree, LINT)


PLANTED = (
    ("app/figures/style/planted.py", "import radixflow.collector.planted.nothing", "never each other"),
    ("collector/cli/planted.py", "import radixflow.app.planted.nothing", "never each other"),
    ("schema/tables/planted.py", "from radixflow.app.planted import nothing", "never each other"),
    ("schema/tables/planted2.py", "from radixflow.collector.planted import nothing", "never each other"),
    ("schema/tables/planted3.py", "import streamlit", "neither Streamlit nor Plotly"),
    ("collector/cli/planted2.py", "def later() -> None:\n    import plotly", "neither Streamlit nor Plotly"),
    ("app/queries/planted.py", "import torch", "neither vLLM nor torch"),
    ("app/queries/planted2.py", "def later() -> None:\n    from vllm import LLM", "neither vLLM nor torch"),
    ("schema/tables/planted4.py", "import vllm.config", "neither vLLM nor torch"),
    ("collector/workloads/planted.py", "import torch", "workloads know no engine"),
    ("collector/cli/planted3.py", "def later() -> None:\n    import vllm", "the command line leaves vLLM and torch"),
    ("collector/policies/planted.py", "import radixflow.collector.instrumentation.settings", "nothing of recording"),
    ("app/figures/style/planted2.py", "import streamlit", "figures and sentences are pure"),
    ("app/sentences/planted.py", "import radixflow.app.queries.reading", "figures and sentences are pure"),
    ("app/queries/planted3.py", "import streamlit", "without Streamlit"),
    ("schema/run_files/planted.py", "import radixflow.schema.segments.footers", "schema: a room uses only"),
    ("schema/segments/planted.py", "import radixflow.schema.views.catalog", "schema: a room uses only"),
    ("schema/writing/planted.py", "import radixflow.schema.reading.connection", "schema: a room uses only"),
    ("schema/reading/planted.py", "import radixflow.schema.checking.check", "schema: a room uses only"),
    (
        "schema/views/planted.py",
        "def later() -> None:\n    import radixflow.schema.notebook",
        "schema: a room uses only",
    ),
    (
        "collector/instrumentation/row_making/planted.py",
        "import radixflow.collector.instrumentation.recorder.round_recorder",
        "instrumentation: a room uses only",
    ),
    (
        "collector/instrumentation/spans/planted.py",
        "import radixflow.collector.instrumentation.recorder.round_recorder",
        "instrumentation: a room uses only",
    ),
    (
        "collector/instrumentation/recorder/planted.py",
        "import radixflow.collector.instrumentation.attached.keeper",
        "instrumentation: a room uses only",
    ),
    ("app/figures/cost/planted.py", "import radixflow.app.figures.latency.load_curve", "figures: the rooms share"),
    ("app/figures/style/planted3.py", "import radixflow.app.figures.latency.load_curve", "figures: the rooms share"),
    (
        "app/components/choices/planted.py",
        "import radixflow.app.components.frame.page_frame",
        "components: a room uses only",
    ),
)
"""A module, the import that it must not make, and words of the contract that forbids it."""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What the linter says of one tree that holds every planted import."""
    tree = copy_tree(tmp_path_factory.mktemp("planted") / "tree")
    for package in ("app", "collector"):
        plant(tree, f"{package}/planted/nothing.py", "nothing = None")
    for module, line, _ in PLANTED:
        plant(tree, module, line)
    return lint_imports(tree)


def plant(tree: Path, module: str, line: str) -> None:
    path = tree / module
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "__init__.py").touch()
    path.write_text(line + "\n")


def broken_part(said: str, contract: str) -> str:
    """The part of the linter's output that explains one broken contract."""
    _, _, explained = said.partition("Broken contracts")
    parts = re.split(r"\n(?=.*\n-{3,}\n)", explained)
    return "\n".join(part for part in parts if contract in part.strip().split("\n")[0])


def test_the_tree_keeps_every_contract() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 0 broken" in result.stdout


@pytest.mark.parametrize(("module", "line", "contract"), PLANTED)
def test_a_planted_import_breaks_its_contract(
    planted: subprocess.CompletedProcess[str], module: str, line: str, contract: str
) -> None:
    assert planted.returncode == 1, planted.stdout + planted.stderr
    broken = [text for text in planted.stdout.splitlines() if " BROKEN" in text]
    assert any(contract in text for text in broken), planted.stdout
    name = f"radixflow.{module.removesuffix('.py').replace('/', '.')}"
    assert re.search(rf"{re.escape(name)}( |$)", broken_part(planted.stdout, contract), re.MULTILINE), planted.stdout


@pytest.mark.parametrize(
    "room", ["schema/attic", "collector/instrumentation/attic", "app/figures/attic", "app/components/attic"]
)
def test_a_room_that_no_contract_names_is_found(tmp_path: Path, room: str) -> None:
    tree = copy_tree(tmp_path)
    plant(tree, f"{room}/box.py", "box = None")
    result = lint_imports(tree)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"radixflow.{room.replace('/', '.')}" in result.stdout
