"""The folders are what README.md and CONTRIBUTING.md say they are."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.architecture.trees import PACKAGES, ROOT, tracked_files


def top_folders() -> list[str]:
    return sorted({path.parts[0] for path in tracked_files() if len(path.parts) > 1 and path.parts[0][0] != "."})


@pytest.mark.parametrize("folder", sorted({*top_folders(), *PACKAGES, "tests", "sample_runs", "docs", "requirements"}))
def test_every_top_folder_says_what_lives_in_it(folder: str) -> None:
    assert (ROOT / folder / "README.md").is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_import_links_are_relative_and_lead_to_the_folders(package: str) -> None:
    link = ROOT / ".import_root" / "radixflow" / package
    assert os.readlink(link) == f"../../{package}"
    assert link.resolve() == ROOT / package


@pytest.mark.parametrize("package", PACKAGES)
def test_root_folders_are_namespaces_and_their_subfolders_packages(package: str) -> None:
    """With an __init__.py, `import schema` in this folder would take the place of a popular package of that name."""
    assert not (ROOT / package / "__init__.py").exists()
    assert (ROOT / package / "py.typed").is_file()
    folders = {path.parent for path in tracked_files(f"{package}/**/*.py")} - {Path(package)}
    # Streamlit runs pages by their file names; they are scripts, not modules.
    scripts = {Path("app/pages")}
    assert sorted(str(folder) for folder in folders - scripts if not (ROOT / folder / "__init__.py").is_file()) == []


def faults_of_page(text: str) -> list[str]:
    """What a page does that belongs into queries or figures: SQL, arithmetic on data, figures of its own."""
    tree = ast.parse(text)
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [f"imports {name}" for name in sorted(imported & {"duckdb", "plotly", "pandas"})] + [
        f"holds SQL: {value[:40]}" for value in texts if re.match(r"\s*(SELECT|WITH)\b", value)
    ]


def test_pages_only_arrange() -> None:
    pages = tracked_files("app/pages/*.py")
    assert pages
    assert [(str(page), fault) for page in pages for fault in faults_of_page((ROOT / page).read_text())] == []


@pytest.mark.parametrize("text", ["import duckdb", "import plotly.express as px", "read('SELECT 1 FROM rounds')"])
def test_a_page_that_computes_is_found(text: str) -> None:
    assert len(faults_of_page(text)) == 1


@pytest.mark.parametrize("script", [".ci/run", "scripts/setup", "scripts/demo", "scripts/lock-requirements"])
def test_shell_scripts_can_be_run_and_parse(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    assert subprocess.run(["bash", "-n", ROOT / script]).returncode == 0


def test_continuous_integration_runs_what_a_person_runs() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_the_makefile_names_its_targets() -> None:
    said = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("setup", "demo", "test", "lint", "clean"):
        assert f"make {target} " in said
