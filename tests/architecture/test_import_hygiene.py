"""What really gets loaded: an import that a linter cannot see is caught in a fresh interpreter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.architecture.trees import ROOT, copy_tree, module_names, run_in_tree

# Streamlit runs these as scripts, with a session; test_scripts_run_without_an_engine starts them that way.
SCRIPTS = ("radixflow.app.main", "radixflow.app.pages")

IMPORT_AND_REPORT = """
import importlib, json
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
heavy = json.loads(sys.argv[2])
print(json.dumps(sorted(name for name in sys.modules if any((name + '.').startswith(h + '.') for h in heavy))))
"""


def loaded(tree: Path, modules: list[str], heavy: tuple[str, ...]) -> list[str]:
    """The modules below the heavy names that importing these modules leaves loaded."""
    result = run_in_tree(tree, IMPORT_AND_REPORT, json.dumps(modules), json.dumps(heavy))
    assert result.returncode == 0, result.stderr
    names = json.loads(result.stdout.splitlines()[-1])
    assert isinstance(names, list)
    return names


def app_modules(tree: Path) -> list[str]:
    return [name for name in module_names(tree, "app") if not name.startswith(SCRIPTS)]


def command_line_modules(tree: Path) -> list[str]:
    # __main__ is where the command starts; importing it must not start it.
    return [name for name in module_names(tree, "collector") if name.startswith("radixflow.collector.cli")]


def test_the_app_opens_without_an_engine() -> None:
    modules = app_modules(ROOT)
    assert modules
    assert loaded(ROOT, modules, ("vllm", "torch", "transformers", "radixflow.collector")) == []


def test_the_schema_needs_neither_the_app_nor_an_engine() -> None:
    modules = module_names(ROOT, "schema")
    assert "radixflow.schema.tables.rounds" in modules
    heavy = ("vllm", "torch", "streamlit", "plotly", "pandas", "radixflow.collector", "radixflow.app")
    assert loaded(ROOT, modules, heavy) == []


def test_the_command_line_starts_without_the_app_or_the_engine() -> None:
    modules = command_line_modules(ROOT)
    assert "radixflow.collector.cli.__main__" in modules
    assert loaded(ROOT, modules, ("streamlit", "plotly", "vllm", "torch", "transformers", "radixflow.app")) == []


@pytest.mark.parametrize(
    ("package", "heavy"), [("app/figures", "torch"), ("schema/tables", "pandas"), ("collector/cli", "vllm")]
)
def test_a_planted_hidden_import_is_found(tmp_path: Path, package: str, heavy: str) -> None:
    tree = copy_tree(tmp_path)
    # A stand-in for the heavy package: the name in sys.modules is what counts, not its weight.
    (tree / ".import_root" / f"{heavy}.py").write_text("")
    planted = tree / package / "planted.py"
    planted.parent.mkdir(parents=True, exist_ok=True)
    # Spelled so that a linter, which reads import statements, sees nothing.
    planted.write_text(f"import importlib\n\nimportlib.import_module({heavy!r})\n")
    module = ".".join(["radixflow", *Path(package).parts, "planted"])
    assert loaded(tree, [module], (heavy,)) == [heavy]


def test_scripts_run_without_an_engine(tmp_path: Path) -> None:
    """The page list and its first page, run by Streamlit's own test harness, load no engine."""
    code = """
import json
from streamlit.testing.v1 import AppTest
app = AppTest.from_file(sys.argv[1], default_timeout=120).run()
assert not app.exception, [element.value for element in app.exception]
heavy = ('vllm', 'torch', 'radixflow.collector')
print(json.dumps(sorted(name for name in sys.modules if name in heavy)))
"""
    result = run_in_tree(ROOT, code, str(ROOT / "app" / "main.py"))
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout.splitlines()[-1]) == []
