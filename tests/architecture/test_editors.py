"""Editors find definitions and references in the real folders, not below the links of .import_root.

Editors that use pyright (VS Code and others) take a file for what its path says and follow no link. The settings in
pyproject.toml therefore let imports start above a clone that is called radixflow. The first tests read the settings
as pyright's documentation says; the last ask the real server, where there is one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.language_server import LanguageServer
from tests.architecture.trees import PACKAGES, ROOT, copy_tree

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pyright"]
DEFINED_IN, WORD, USED_IN = "schema/errors.py", "RadixflowError", "collector/policies/catalog.py"
SERVER = os.environ.get("RADIXFLOW_LANGUAGE_SERVER") or shutil.which("pyright-langserver")


def resolved(clone: str, settings: dict[str, object]) -> str:
    """Where pyright finds radixflow.schema for a file of a clone: in the first environment that holds the file."""
    for environment in settings["executionEnvironments"]:  # type: ignore[attr-defined]
        root = os.path.normpath(f"{clone}/{environment['root']}")
        if f"{clone}/schema".startswith(root + "/"):
            return os.path.normpath(f"{clone}/{environment['extraPaths'][0]}/radixflow/schema")
    return "nowhere"


@pytest.mark.parametrize(
    ("clone", "found"),
    [
        ("/path/to/radixflow", "/path/to/radixflow/schema"),
        ("/path/to/another", "/path/to/another/.import_root/radixflow/schema"),
        ("/path/to/radixflow-two", "/path/to/radixflow-two/.import_root/radixflow/schema"),
    ],
)
def test_imports_of_a_clone_lead_into_that_clone(clone: str, found: str) -> None:
    assert resolved(clone, SETTINGS) == found


def test_a_search_above_every_clone_would_lead_into_a_neighbour() -> None:
    planted = {"executionEnvironments": [{"root": ".", "extraPaths": ["..", ".import_root"]}]}
    assert resolved("/path/to/another", planted) == "/path/to/radixflow/schema"


def test_pycharm_is_told_the_folder_above_and_leaves_the_links_out() -> None:
    (manager,) = ElementTree.parse(ROOT / ".idea" / "radixflow.iml").iter("component")
    contents = {str(entry.get("url")): [str(each.get("url")) for each in entry] for entry in manager.iter("content")}
    assert contents["file://$MODULE_DIR$/.."] == ["file://$MODULE_DIR$/.."]  # searched, but not indexed
    assert "file://$MODULE_DIR$/.import_root" in contents["file://$MODULE_DIR$"]


def test_only_shared_settings_of_editors_are_kept() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", ".idea", ".vscode"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    pycharm, code = {"modules.xml", "radixflow.iml", ".gitignore"}, {"extensions.json", "settings.json"}
    assert set(files) == {f".idea/{name}" for name in pycharm} | {f".vscode/{name}" for name in code}


@pytest.fixture
def clone(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A clone of a given name, opened through a link of another name if there is one."""
    name, link = request.param
    clone = copy_tree(tmp_path / name)
    if link is None:
        return clone
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / link).symlink_to(clone)
    return tmp_path / "links" / link


@pytest.fixture
def server(clone: Path) -> Iterator[LanguageServer]:
    if SERVER is None:
        pytest.skip("no pyright-langserver on PATH or in RADIXFLOW_LANGUAGE_SERVER")
    server = LanguageServer([SERVER, "--stdio"], clone)
    yield server
    server.close()


@pytest.mark.long
@pytest.mark.parametrize("clone", [("radixflow", None), ("another", "radixflow")], indirect=True)
def test_the_real_server_finds_real_files(clone: Path, server: LanguageServer) -> None:
    modules = [path for package in PACKAGES for path in (clone / package).rglob("*.py")]
    importers = {
        path.relative_to(clone).as_posix()
        for path in modules
        if re.search(rf"^ *from radixflow.schema.errors import .*\b{WORD}\b", path.read_text(), re.MULTILINE)
    }
    assert server.definition(USED_IN, WORD) == {DEFINED_IN}
    assert len(importers) > 10
    assert server.references(DEFINED_IN, WORD) == importers | {DEFINED_IN}


@pytest.mark.long
@pytest.mark.parametrize("clone", [("another", None)], indirect=True)
def test_a_clone_of_another_name_is_why_the_link_is_needed(server: LanguageServer) -> None:
    assert server.definition(USED_IN, WORD) == {f".import_root/radixflow/{DEFINED_IN}"}
    assert server.references(DEFINED_IN, WORD) == {DEFINED_IN}
