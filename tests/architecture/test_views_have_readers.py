"""Every view is read: by the app, a report or a command, or by another view that is."""

from __future__ import annotations

import ast
import re

import pytest

from radixflow.schema.views.catalog import dependencies, view_sources
from tests.architecture.trees import ROOT, tracked_files

READERS = ("app/**/*.py", "collector/**/*.py", "schema/checking/*.py")
"""Where the app, the reports and the commands are. Pages of reference and tests read every view, and prove nothing."""


def queries_of(source: str) -> list[str]:
    """Texts of a Python file that may be SQL; what is filled into them is left out."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            found.append(" ".join(str(part.value) if isinstance(part, ast.Constant) else "?" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


def read_by(queries: list[str]) -> set[str]:
    """Names behind FROM or JOIN."""
    return {name for query in queries for name in re.findall(r"\b(?:FROM|JOIN)\s+\(?\s*(\w+)", query)}


def unread(views: dict[str, str], queries: list[str]) -> set[str]:
    """Views that no query reads, nor any view that is read."""
    todo, seen = read_by(queries) & set(views), set()
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= (set(dependencies(views[name])) & set(views)) - seen
    return set(views) - seen


@pytest.fixture(scope="module")
def queries() -> list[str]:
    return [text for path in tracked_files(*READERS) for text in queries_of((ROOT / path).read_text())]


def test_every_view_has_a_reader(queries: list[str]) -> None:
    assert unread(view_sources(), queries) == set()


def test_a_view_without_a_reader_is_found(queries: list[str]) -> None:
    planted = "-- depends on: run_summary\n\nCREATE VIEW nobody_asks AS SELECT * FROM run_summary;"
    above = "-- depends on: nobody_asks\n\nCREATE VIEW nor_this AS SELECT * FROM nobody_asks;"
    views = {**view_sources(), "nobody_asks": planted, "nor_this": above}
    assert unread(views, queries) == {"nobody_asks", "nor_this"}
    assert unread(views, [*queries, "SELECT 1 FROM nor_this"]) == set()


def test_a_name_in_words_or_in_code_reads_nothing() -> None:
    source = '''
"""Shows what slot_ledger says."""
figure = slot_ledger(table)
show_figure(figure, "slot_ledger")
sql = f"SELECT {columns} FROM run_summary JOIN {other} USING (run)"
'''
    assert read_by(queries_of(source)) & set(view_sources()) == {"run_summary"}
