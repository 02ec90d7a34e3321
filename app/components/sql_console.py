"""The SQL console: a text field for a query, the meaning of every view beside it, and the answer."""

import pyarrow as pa
import streamlit as st

from radixflow.app import units
from radixflow.app.components.shown.figure_view import show_table
from radixflow.app.components.text import plain_markdown
from radixflow.app.queries import console
from radixflow.app.queries.cached import Selection, ask_console, definitions

_FIRST = "SELECT label, num_rounds, rows_per_round, rows_avoidable FROM run_summary ORDER BY run"
_ANSWER = "sql_answer"


def sql_console(selection: Selection) -> None:
    """Draw the question, the views, and the answer.

    A question in the address is shown and waits for its button: a link alone runs nothing.

    Args:
        selection: The opened runs.
    """
    left, right = st.columns([3, 2], gap="large")
    with right:
        _show_views()
    with left:
        if "sql" not in st.query_params:
            st.session_state.setdefault("sql", _FIRST)
        sql = st.text_area("Question", key="sql", bind="query-params", height=170)
        st.caption(
            "One SELECT over the tables and views of the opened runs, in DuckDB's SQL. It is stopped after "
            f"{console.MAX_SECONDS:g} s; {console.MAX_ROWS:,} rows and {console.MEMORY} of memory are the limit. "
            "Nothing can be written, and no other file be read."
        )
        if st.button("Answer", type="primary", icon=":material/play_arrow:", shortcut="Ctrl+Enter"):
            with st.spinner("Asking", show_time=True):
                st.session_state[_ANSWER] = (selection, sql, ask_console(sql, selection))
    asked = st.session_state.get(_ANSWER)
    if asked and asked[:2] == (selection, sql):
        _show_answer(asked[2])


def _show_answer(found: console.Answer) -> None:
    if found.table is None:
        st.error(plain_markdown(found.error), icon=":material/error:")
        return
    rows = units.counted(found.table.num_rows, "row")
    st.caption(f"The first {rows}; there are more." if found.is_cut else f"{rows}.")
    show_table(found.table, "The answer has no row.", absent="NULL")


def _show_views() -> None:
    known = definitions()
    view = st.selectbox("Views and what they mean", list(known.views), key="sql_view")
    st.caption(plain_markdown(known.views[view]))
    columns = [each for each in known.columns if each.view == view]
    table = {"column": [each.column for each in columns], "unit": [each.unit for each in columns]}
    st.dataframe(
        pa.table(table | {"meaning": [each.text for each in columns]}).to_pandas(), hide_index=True, height=250,
        column_config={"meaning": {"width": "large"}},
    )  # fmt: skip
