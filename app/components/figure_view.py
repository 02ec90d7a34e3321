"""One way to put a figure, or a table, on a page."""

import plotly.graph_objects as go
import pyarrow as pa
import streamlit as st

from radixflow.app.figures.interaction import plotly_config


def show_figure(figure: go.Figure, name: str) -> None:
    """Show a figure in the theme of the page.

    Args:
        figure: The figure.
        name: Key of the element and file name of its download.
    """
    st.plotly_chart(figure, theme="streamlit", key=f"figure_{name}", config=plotly_config(name))


def show_table(table: pa.Table, empty: str) -> None:
    """Show a table, or one sentence when it has no row."""
    if table.num_rows == 0:
        st.caption(empty)
    else:
        st.dataframe(table.to_pandas(), hide_index=True, width="stretch", placeholder="not measured")
