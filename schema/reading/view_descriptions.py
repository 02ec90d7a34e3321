"""What every view and each of its columns means, from the comments in its SQL as the database stores them."""

from dataclasses import dataclass

from radixflow.schema.reading.connection import open_nothing
from radixflow.schema.views.catalog import unit_and_text, view_sources


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


def describe() -> list[View]:
    """Describe every view by the comments in its SQL, in the order of :func:`view_sources`."""
    with open_nothing(with_comments=True) as connection:
        descriptions = dict(connection.execute("SELECT view_name, comment FROM duckdb_views()").fetchall())
        columns: dict[str, list[ViewColumn]] = {}
        for view, name, kind, comment in connection.execute(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() ORDER BY column_index"
        ).fetchall():
            columns.setdefault(view, []).append(_column(name, kind, comment))
    return [View(name, descriptions[name] or "", tuple(columns[name])) for name in view_sources()]


def _column(name: str, kind: str, comment: str | None) -> ViewColumn:
    return ViewColumn(name, kind, *unit_and_text(comment or ""))
