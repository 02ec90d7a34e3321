"""One way to put a figure, or a table, on a page."""

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from radixflow.app.figures.interaction import plotly_config
from radixflow.app.queries.cached import definitions


def show_figure(figure: go.Figure, name: str, opens: Callable[[Any], None] | None = None) -> None:
    """Show a figure in the theme of the page.

    Args:
        figure: The figure.
        name: Key of the element and file name of its download.
        opens: Called with the ``customdata`` of the mark that was clicked; may go to another page.
    """
    key, config = f"figure_{name}", plotly_config(name)
    if opens is None:
        st.plotly_chart(figure, theme="streamlit", key=key, config=config)
        return
    event = st.plotly_chart(
        figure, theme="streamlit", key=key, config=config, on_select="rerun", selection_mode="points"
    )
    clicked = [point["customdata"] for point in event["selection"]["points"] if point.get("customdata") is not None]
    if clicked:
        opens(clicked[0])


def show_table(table: pa.Table, empty: str, view: str = "", absent: str = "not measured") -> None:
    """Show a table, or one sentence when it has no row.

    Args:
        table: The table.
        empty: What to say when it is empty.
        view: View from which the columns come; what they mean is then shown when hovering over their titles.
        absent: What stands for NULL; another word only where NULL means that there is no such thing.
    """
    if table.num_rows == 0:
        st.caption(empty)
        return
    columns = {field.name: _column(field, view) for field in table.schema}
    st.dataframe(table.to_pandas(), hide_index=True, width="stretch", column_config=columns, placeholder=absent)


def column_title(name: str) -> str:
    """Write the name of a column for a person: ``num_blocked_visits`` as ``Blocked visits``, ``*_ms`` with its unit."""
    words, unit = (name[:-3], " (ms)") if name.endswith("_ms") else (name, "")
    return words.removeprefix("num_").removesuffix("_fraction").replace("_", " ").capitalize() + unit


def _column(field: pa.Field, view: str) -> Any:
    explained = definitions().of(view, field.name) if view else None
    if field.name.endswith("_fraction"):
        return st.column_config.NumberColumn(column_title(field.name), format="percent", help=explained)
    if pa.types.is_floating(field.type):
        return st.column_config.NumberColumn(column_title(field.name), format="%.2f", help=explained)
    return st.column_config.Column(column_title(field.name), help=explained)
