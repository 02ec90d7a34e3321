"""One row of a view written downwards: what each number is called, what it is, what it means."""

from typing import Any

import streamlit as st

from radixflow.app import units
from radixflow.app.components.figure_view import column_title
from radixflow.app.queries.definitions import Definitions


def numbers_table(row: dict[str, Any], view: str, definitions: Definitions) -> None:
    """Show every column of a view that a row has.

    Args:
        row: The row; columns of other views are left out.
        view: Name of the view.
        definitions: What each column means.
    """
    lines = [
        {
            "number": column_title(each.column).removesuffix(" (ms)"),
            "value": _written(row[each.column], each.column),
            "what it is": each.text,
        }
        for each in definitions.columns
        if each.view == view and each.column in row
    ]
    st.dataframe(
        lines, hide_index=True, width="stretch", height="content", column_config={"what it is": {"width": "large"}}
    )


def _written(value: object, column: str) -> str:
    if value is None:
        return units.NOT_MEASURED
    if column.endswith("_ms"):
        return units.duration(float(str(value)))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return units.number(value)
    return str(value)
