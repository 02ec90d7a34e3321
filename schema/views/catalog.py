"""The views: loaded from the SQL files beside this one, in the order of their dependencies."""

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

VIEWS_FOLDER = Path(__file__).parent
_DEPENDS = re.compile(r"^-- depends on: *(.*)$", re.MULTILINE)
_CACHED = re.compile(r"^-- cached by: *(.*)$", re.MULTILINE)
_QUERY = re.compile(r"^CREATE VIEW \w+ AS(.*?);\n", re.MULTILINE | re.DOTALL)
_COMMENT_ON = re.compile(r"^COMMENT ON (?:VIEW|COLUMN) (\w+)(?:\.(\w+))? IS '((?:[^']|'')*)';$", re.MULTILINE)
_COMMENT = re.compile(r"\[([^\]]*)\] (.*)", re.DOTALL)


@cache
def view_sources() -> dict[str, str]:
    """Return the SQL of each view by name, every view after those that it depends on."""
    sources = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted(VIEWS_FOLDER.glob("*/*.sql"), key=lambda path: path.stem)
    }
    needs = {name: [need for need in dependencies(sql) if need in sources] for name, sql in sources.items()}
    return {name: sources[name] for name in TopologicalSorter(needs).static_order()}


def view_file(view: str) -> str:
    """Return the path of a view's SQL file as seen from the checkout: ``schema/views/rounds/round_times.sql``."""
    (path,) = VIEWS_FOLDER.glob(f"*/{view}.sql")
    return f"schema/views/{path.relative_to(VIEWS_FOLDER).as_posix()}"


def dependencies(sql: str) -> list[str]:
    """Return the tables and views named in the ``-- depends on:`` header of a view."""
    header = _DEPENDS.search(sql)
    return [name.strip() for name in header[1].split(",") if name.strip()] if header else []


def cached_by(view: str) -> tuple[str, ...]:
    """Return the columns in the ``-- cached by:`` header of a view, which name the run or the pair that a row is about.

    The answer of such a view may be kept (``summaries.py``). Views without the header, and tables, have none.
    """
    header = _CACHED.search(view_sources().get(view, ""))
    return tuple(name.strip() for name in header[1].split(",")) if header else ()


def view_query(view: str) -> str:
    """Return the SELECT of a view."""
    query = _QUERY.search(view_sources()[view])
    assert query, view
    return query[1].strip()


def view_statements() -> list[str]:
    """Return the statement that creates each view, in the order in which they can be executed."""
    return [_comments_apart(sql)[0].rstrip().removesuffix(";") for sql in view_sources().values()]


def comment_statements() -> list[str]:
    """Return the statements that store the comments of each view and of its columns in a database that has them."""
    return [_comments_apart(sql)[1] for sql in view_sources().values()]


def _comments_apart(sql: str) -> tuple[str, str]:
    start = sql.index("COMMENT ON ")
    return sql[:start], sql[start:]


def comments(view: str) -> dict[str, tuple[str, str]]:
    """Return unit and meaning of each column of a view, and under ``""`` what one row of it is, without a database."""
    found = {name: comment.replace("''", "'") for _, name, comment in _COMMENT_ON.findall(view_sources()[view])}
    return {name: unit_and_text(comment) for name, comment in found.items()}


def unit_and_text(comment: str) -> tuple[str, str]:
    """Return the unit (``""`` where a comment says ``[-]`` or names none) and the meaning in a comment."""
    match = _COMMENT.fullmatch(comment)
    unit, text = (match[1], match[2]) if match else ("", comment)
    return "" if unit == "-" else unit, text
