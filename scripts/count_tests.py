"""Counts tests and assertions, so that a rearrangement can show that it lost none: `python scripts/count_tests.py`.

Prints one line a folder of tests/: test functions, cases that pytest collects from them (needs the environment that
runs the tests), and assertions (`assert` statements, and `pytest.raises` and `pytest.warns` blocks).
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def counts_of(text: str) -> tuple[int, int]:
    """Test functions and assertions in the text of one module."""
    nodes = list(ast.walk(ast.parse(text)))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    raising = [call for call in calls if isinstance(call, ast.Attribute) and call.attr in ("raises", "warns")]
    asserts = [node for node in nodes if isinstance(node, ast.Assert)]
    return sum(function.name.startswith("test") for function in functions), len(asserts) + len(raising)


def collected(root: Path) -> Counter[str]:
    """Cases that pytest collects, by test file."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests"]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    return Counter(line.partition("::")[0] for line in said.splitlines() if "::" in line)


def main() -> int:
    """Prints the table."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    cases: Counter[str] = collected(root)
    rows: dict[str, tuple[int, ...]] = {}
    for path in sorted((root / "tests").rglob("*.py")):
        folder = str(path.relative_to(root).parent)
        functions, assertions = counts_of(path.read_text(encoding="utf-8"))
        before = rows.get(folder, (0, 0, 0))
        found = (functions, cases[str(path.relative_to(root))], assertions)
        rows[folder] = tuple(a + b for a, b in zip(before, found, strict=True))
    rows["in all"] = tuple(map(sum, zip(*rows.values(), strict=True)))
    print(f"{'folder':<48} {'functions':>9} {'cases':>7} {'assertions':>10}")
    for folder, (functions, number, assertions) in rows.items():
        print(f"{folder:<48} {functions:>9} {number:>7} {assertions:>10}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
