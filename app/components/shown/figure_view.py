"""Puts a figure or a table on a page, with its downloads."""

import hashlib
from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from radixflow.app.components.shown.downloads import show_downloads
from radixflow.app.figures.style.figure_table import figure_table
from radixflow.app.figures.style.interaction import plotly_config
from radixflow.app.queries.cached import definitions


def show_figure(figure: go.Figure, name: str, opens: Callable[[Any], None] | None = None) -> None:
    """Show a figure in the theme of the page.

    Args:
        figure: The figure.
        name: Key of the element and file name of its download.
        opens: Called with the ``customdata`` of the mark that was clicked; may go to another page.
    """
    block = f"block_{name}"
    with st.container(key=block, gap=None):
        event = _draw(figure, name, opens is not None)
        show_downloads(name, lambda: figure_table(figure), block)
    clicked = [point["customdata"] for point in event["selection"]["points"] if point.get("customdata") is not None]
    if opens and clicked:
        opens(clicked[0])


def _draw(figure: go.Figure, name: str, can_be_clicked: bool) -> Any:
    """Draw a figure and return what is selected in it."""
    key, config = f"figure_{name}", plotly_config(name)
    if not can_be_clicked:
        st.plotly_chart(figure, theme="streamlit", key=key, config=config)
        return {"selection": {"points": []}}
    return st.plotly_chart(
        figure, theme="streamlit", key=key, config=config, on_select="rerun", selection_mode="points"
    )


def show_table(table: pa.Table, empty: str, view: str = "", absent: str = "not measured") -> None:
    """Show a table, or one sentence when it has no row.

    Args:
        table: The table.
        empty: What to say when it is empty.
        view: View from which the columns come; what they mean is then shown when hovering over their titles.
        absent: What is written where a value is NULL. The default suits values that were not measured; another word is
            for columns in which NULL means that there is no such thing.
    """
    if table.num_rows == 0:
        st.caption(empty)
        return
    columns = {field.name: _column(field, view) for field in table.schema}
    st.dataframe(table.to_pandas(), hide_index=True, width="stretch", column_config=columns, placeholder=absent)
    show_downloads(_table_name(table, view), lambda: table)


def _table_name(table: pa.Table, view: str) -> str:
    """Name the files of a table by its view; the columns tell several tables from one view apart."""
    digest = hashlib.blake2b(" ".join(table.column_names).encode(), digest_size=2).hexdigest()
    return f"{view or 'table'}-{digest}"


_TITLES = {
    "slot_ms": "Time of the slots (ms)",
    "slot_fraction": "Share of the slots",
    "slot_time_fraction": "Share of their time",
    "in_flight_fraction": "Share in flight",
    "gap_fraction": "Gaps, share of the run",
    "gaps_ms": "All gaps (ms)",
    "p50_gap_ms": "Median gap (ms)",
    "next_round_fraction": "Share selected next",
    "p50_rounds_until_selected": "Median rounds until selected",
    "p50_rounds_between": "Median rounds between",
    "is_async": "Asynchronous",
}
"""Titles of columns whose own name would say too little on a page, or the same as another one."""


def column_title(name: str) -> str:
    """Write the name of a column for a person: ``num_blocked_visits`` as ``Blocked visits``, ``*_ms`` with its unit."""
    if name in _TITLES:
        return _TITLES[name]
    words, unit = (name[:-3], " (ms)") if name.endswith("_ms") else (name, "")
    return words.removeprefix("num_").removesuffix("_fraction").replace("_", " ").capitalize() + unit


def _column(field: pa.Field, view: str) -> Any:
    explained = definitions().of(view, field.name) if view else None
    if field.name.endswith("_fraction"):
        return st.column_config.NumberColumn(column_title(field.name), format="percent", help=explained)
    if pa.types.is_floating(field.type):
        return st.column_config.NumberColumn(column_title(field.name), format="%.2f", help=explained)
    return st.column_config.Column(column_title(field.name), help=explained)
