"""Shows one row of a view as a list: name, value and meaning of each number."""

from typing import Any

import streamlit as st

from radixflow.app import units
from radixflow.app.components.shown.figure_view import column_title
from radixflow.app.queries.definitions import Definitions


def numbers_table(row: dict[str, Any], view: str, definitions: Definitions) -> None:
    """Show every column of a view that a row has.

    Args:
        row: The row; columns of other views are left out.
        view: Name of the view.
        definitions: What each column means.
    """
    compared_numbers({"value": row}, [view], definitions)


def compared_numbers(rows: dict[str, dict[str, Any]], views: list[str], definitions: Definitions) -> None:
    """Show rows of views side by side, a column a row.

    Args:
        rows: Title of a column to its row.
        views: Names of the views from which the rows come; a column that two of them have is shown once.
        definitions: What each column means.
    """
    first: dict[str, Any] = next(iter(rows.values()), {})
    known = {each.column: each for view in reversed(views) for each in definitions.columns if each.view == view}
    lines = [
        {"number": column_title(name.replace("_ms", ""))}
        | {title: _written(row[name], name) for title, row in rows.items()}
        | {"what it is": known[name].text}
        for name in first
        if name in known
    ]
    st.dataframe(
        lines, hide_index=True, width="stretch", height="content", column_config={"what it is": {"width": "large"}}
    )


def _written(value: object, column: str) -> str:
    if value is None:
        return units.NOT_MEASURED
    if column.removesuffix("_a").removesuffix("_b").endswith("_ms"):
        return units.duration(float(str(value)))
    if column.endswith("_fraction"):
        return units.fraction(float(str(value)))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return units.number(value)
    return str(value)
