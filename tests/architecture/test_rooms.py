"""CONTRIBUTING.md names every room, and a room is imported from where it says and from nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.trees import PACKAGES, ROOT, copy_tree

TABLE_ROW = re.compile(r"^\| `([\w./]+)` \| .+ \| (.+) \|$", re.MULTILINE)
# Folders whose sub-folders are rooms of their own.
DIVIDED = (*PACKAGES, "collector/instrumentation", "collector/policies", "app/figures", "app/components")


def listed() -> dict[str, list[str]]:
    """Room to the places from which it may be imported, as the table says."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text[text.index("\n## Rooms\n") : text.index("\n## What stays valid\n")]
    return {room: re.findall(r"`([\w./]+)`", places) for room, places in TABLE_ROW.findall(section)}


def rooms(tree: Path) -> set[str]:
    folders = (folder for name in DIVIDED for folder in (tree / name).iterdir())
    return {folder.relative_to(tree).as_posix() for folder in folders if any(folder.glob("*.py"))}


def lies_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


def imports(path: Path) -> Iterator[str]:
    """What a module imports of ours, as paths without ending."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (
            name.removeprefix("radixflow.").replace(".", "/") for name in names if name.startswith("radixflow.")
        )


def uninvited(tree: Path) -> list[str]:
    """One sentence for each import of a room from a place that the table does not name."""
    return sorted(
        f"{importer} imports {name}, of the room {room}"
        for package in PACKAGES
        for path in sorted((tree / package).rglob("*.py"))
        for importer in [path.relative_to(tree).as_posix()]
        for name in imports(path)
        for room, places in listed().items()
        if lies_in(name, room.removesuffix(".py")) and not any(lies_in(importer, place) for place in (room, *places))
    )


def test_every_room_is_in_the_table() -> None:
    assert {room for room in listed() if not room.endswith(".py")} == rooms(ROOT)
    assert all((ROOT / place).exists() for room, places in listed().items() for place in (room, *places))


def test_rooms_are_imported_from_where_the_table_says() -> None:
    assert uninvited(ROOT) == []


def test_a_room_that_is_missing_is_found(tmp_path: Path) -> None:
    tree = copy_tree(tmp_path)
    (tree / "app" / "figures" / "planted").mkdir()
    (tree / "app" / "figures" / "planted" / "__init__.py").touch()
    assert rooms(tree) - set(listed()) == {"app/figures/planted"}


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("collector/cli/planted.py", "from radixflow.collector.policies.admission import flex"),
        ("collector/engines/planted.py", "import radixflow.schema.segments.footers"),
        ("app/queries/planted.py", "from radixflow.app import components"),
        ("app/pages/planted.py", "from radixflow.schema import writing"),
    ],
)
def test_a_planted_import_is_found(tmp_path: Path, module: str, line: str) -> None:
    tree = copy_tree(tmp_path)
    (tree / module).write_text(line + "\n")
    assert [sentence.split()[0] for sentence in uninvited(tree)] == [module]
