"""What the app says when there is no run at all."""

from pathlib import Path

import streamlit as st

from radixflow.app.components.text import plain_markdown

_COMMANDS = """\
# record the shipped tiny hybrid model under both traversals (runs on a CPU, no download)
radixflow-collect --model tiny-hybrid

# then look at it
streamlit run app/main.py -- --runs runs"""


def show_empty_state(asked_for: Path, faults: list[str]) -> None:
    """Say where runs were looked for and how to make one."""
    st.title("No recording yet")
    st.markdown(
        f"There is no run in `{asked_for}`. A run is a folder that `radixflow-collect` writes. "
        "Record one, or start the workbench on a folder that holds some:"
    )
    st.code(_COMMANDS, language="bash")
    st.caption("`make demo` does both, with all the set-up. This page looks again when it is reloaded.")
    for fault in faults:
        st.warning(plain_markdown(fault), icon=":material/warning:")
