"""What each metric means, from the comments of the SQL views: the one text that hovers, tables and reports show."""

from typing import NamedTuple

from radixflow.schema.views.catalog import comments, view_sources


class Definition(NamedTuple):
    """One column of a view.

    Attributes:
        view: Name of the view.
        column: Name of the column.
        unit: Unit of its values; empty for names.
        text: Meaning, with formula.
    """

    view: str
    column: str
    unit: str
    text: str


class Definitions(NamedTuple):
    """Every view and column that has a comment.

    Attributes:
        views: View to its meaning.
        columns: Every column.
    """

    views: dict[str, str]
    columns: list[Definition]

    def of(self, view: str, column: str) -> str | None:
        """Return the meaning of a column, or None if there is no such column."""
        return next((each.text for each in self.columns if (each.view, each.column) == (view, column)), None)


def read_definitions() -> Definitions:
    """Read the comments of every view."""
    views: dict[str, str] = {}
    columns: list[Definition] = []
    for view in view_sources():
        found = comments(view)
        views[view] = found.pop("", ("", ""))[1]
        columns += [Definition(view, name, unit, text) for name, (unit, text) in found.items()]
    return Definitions(views, columns)
