"""The views: loaded from ``views/*.sql`` in the order of their dependencies, described by their own comments."""

import re
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb

VIEWS_FOLDER = Path(__file__).parent / "views"
_DEPENDS = re.compile(r"^-- depends on: *(.*)$", re.MULTILINE)
_CACHED = re.compile(r"^-- cached by: *(.*)$", re.MULTILINE)
_QUERY = re.compile(r"^CREATE VIEW \w+ AS(.*?);\n", re.MULTILINE | re.DOTALL)
_COMMENT_ON = re.compile(r"^COMMENT ON (?:VIEW|COLUMN) (\w+)(?:\.(\w+))? IS '((?:[^']|'')*)';$", re.MULTILINE)
_COMMENT = re.compile(r"\[([^\]]*)\] (.*)", re.DOTALL)


@dataclass(frozen=True)
class ViewColumn:
    """One column of a view: its name, SQL type, unit (``""`` for names and numbers of things) and meaning."""

    name: str
    type: str
    unit: str
    text: str


@dataclass(frozen=True)
class View:
    """One view: its name, what one row of it is, and its columns."""

    name: str
    description: str
    columns: tuple[ViewColumn, ...]


@cache
def view_sources() -> dict[str, str]:
    """Return the SQL of each view by name, every view after those that it depends on."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(VIEWS_FOLDER.glob("*.sql"))}
    needs = {name: [need for need in dependencies(sql) if need in sources] for name, sql in sources.items()}
    return {name: sources[name] for name in TopologicalSorter(needs).static_order()}


def dependencies(sql: str) -> list[str]:
    """Return the tables and views named in the ``-- depends on:`` header of a view."""
    header = _DEPENDS.search(sql)
    return [name.strip() for name in header[1].split(",") if name.strip()] if header else []


def cached_by(view: str) -> tuple[str, ...]:
    """Return the columns named in the ``-- cached by:`` header of a view: the run, or the runs, that a row is about.

    The answer of such a view may be kept (``summaries.py``). Views without the header, and tables, have none.
    """
    header = _CACHED.search(view_sources().get(view, ""))
    return tuple(name.strip() for name in header[1].split(",")) if header else ()


def view_query(view: str) -> str:
    """Return the SELECT of a view."""
    query = _QUERY.search(view_sources()[view])
    assert query, view
    return query[1].strip()


def create_views(connection: duckdb.DuckDBPyConnection, with_comments: bool = False) -> None:
    """Create every view; the tables of a run must be there.

    Args:
        connection: Where to create them.
        with_comments: Whether to store the comments too, which takes longer than the views themselves.
    """
    definitions = [sql if with_comments else sql[: sql.index("COMMENT ON ")] for sql in view_sources().values()]
    connection.execute("\n".join(definitions))


def describe() -> list[View]:
    """Describe every view by the comments in its SQL, in the order of :func:`view_sources`."""
    from radixflow.schema.connection import open_nothing  # the connection needs the catalog

    with open_nothing(with_comments=True) as connection:
        descriptions = dict(connection.execute("SELECT view_name, comment FROM duckdb_views()").fetchall())
        columns: dict[str, list[ViewColumn]] = {}
        for view, name, kind, comment in connection.execute(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() ORDER BY column_index"
        ).fetchall():
            columns.setdefault(view, []).append(_column(name, kind, comment))
    return [View(name, descriptions[name] or "", tuple(columns[name])) for name in view_sources()]


def comments(view: str) -> dict[str, tuple[str, str]]:
    """Return unit and meaning of each column of a view, and under ``""`` what one row of it is, without a database."""
    found = {name: comment.replace("''", "'") for _, name, comment in _COMMENT_ON.findall(view_sources()[view])}
    return {name: _unit_and_text(comment) for name, comment in found.items()}


def _column(name: str, kind: str, comment: str | None) -> ViewColumn:
    return ViewColumn(name, kind, *_unit_and_text(comment or ""))


def _unit_and_text(comment: str) -> tuple[str, str]:
    match = _COMMENT.fullmatch(comment)
    unit, text = (match[1], match[2]) if match else ("", comment)
    return "" if unit == "-" else unit, text
