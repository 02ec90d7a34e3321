"""Who may know what inside the app: pages arrange, figures draw, queries read."""

import ast
from pathlib import Path

import pytest

APP = Path(__file__).resolve().parents[2] / "app"
PAGES = sorted((APP / "pages").glob("*.py"))
SQL_WORDS = ("SELECT", "FROM ", "WHERE ", "GROUP BY", "JOIN ")


def arithmetic_and_sql(source: str) -> list[str]:
    """Name every place in a page that computes or that queries."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp | ast.AugAssign | ast.UnaryOp) and not isinstance(
            getattr(node, "op", None), ast.Not
        ):
            found.append(f"line {node.lineno}: arithmetic")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("sum", "min", "max", "len", "round", "abs"):
            found.append(f"line {node.lineno}: {node.func.id}()")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and any(w in node.value for w in SQL_WORDS):
            found.append(f"line {node.lineno}: SQL")
        if isinstance(node, ast.Import | ast.ImportFrom) and "duckdb" in ast.unparse(node):
            found.append(f"line {node.lineno}: duckdb")
    return found


def imports(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_only_arranges(page):
    assert arithmetic_and_sql(page.read_text()) == []


@pytest.mark.parametrize(
    "planted", ["a = b + 1", "a = -b", "a = sum(b)", "a = 'SELECT 1'", "import duckdb", "from duckdb import connect"]
)
def test_a_page_that_does_more_is_found(planted):
    assert arithmetic_and_sql(planted)


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("figures", ("streamlit", "duckdb", "radixflow.app.queries", "radixflow.app.components")),
        ("sentences", ("streamlit", "duckdb", "plotly", "radixflow.app.queries", "radixflow.app.components")),
        ("report", ("streamlit", "radixflow.app.components", "radixflow.app.queries.cached")),
        ("queries", ("plotly", "radixflow.app.figures", "radixflow.app.components")),
        ("components", ("duckdb",)),
        ("pages", ("duckdb", "plotly", "radixflow.schema")),
    ],
)
def test_a_folder_knows_only_what_it_may(folder, forbidden):
    files = list((APP / folder).rglob("*.py"))
    assert files
    for path in files:
        known = imports(path)
        assert not [name for name in known if name.startswith(forbidden)], path


def test_streamlit_caches_in_one_place_and_queries_know_it_there_alone():
    knowing = [path.name for path in (APP / "queries").glob("*.py") if "streamlit" in imports(path)]
    assert knowing == ["cached.py"]
    caching = [path.relative_to(APP).as_posix() for path in APP.rglob("*.py") if "st.cache_" in path.read_text()]
    assert caching == ["queries/cached.py"]


def test_nothing_of_the_app_is_fetched_from_another_machine():
    own = [path for path in APP.rglob("*") if path.suffix in (".py", ".js", ".css", ".svg", ".j2", ".toml")]
    allowed = ("http://www.w3.org/2000/svg",)
    for path in own:
        text = path.read_text()
        for address in allowed:
            text = text.replace(address, "")
        assert "http://" not in text and "https://" not in text, path
