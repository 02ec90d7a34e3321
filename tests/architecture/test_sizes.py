"""An alarm for modules and functions that have grown too long to read; the habit is far below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.trees import ROOT, tracked_files

MODULE_LINES = 400
FUNCTION_LINES = 60


def oversized(name: str, text: str) -> Iterator[str]:
    """One sentence for each thing in a module that is too long."""
    if (lines := len(text.splitlines())) > MODULE_LINES:
        yield f"{name} has {lines} lines, more than {MODULE_LINES}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{name}:{node.lineno} {node.name} has {lines} lines, more than {FUNCTION_LINES}"


def test_modules_and_functions_stay_readable() -> None:
    paths = tracked_files("*.py")
    assert Path("schema/tables/columns.py") in paths
    assert [sentence for path in paths for sentence in oversized(str(path), (ROOT / path).read_text())] == []


def test_a_long_module_and_a_long_function_are_found() -> None:
    assert list(oversized("fine.py", "a = 1\n" * MODULE_LINES)) == []
    assert len(list(oversized("long.py", "a = 1\n" * (MODULE_LINES + 1)))) == 1
    body = "class A:\n    async def f(self):\n" + "        self.a = 1\n" * FUNCTION_LINES
    assert list(oversized("f.py", body)) == [f"f.py:2 f has {FUNCTION_LINES + 1} lines, more than {FUNCTION_LINES}"]
