"""The head of every page: its title, the arms on it, and what a person must know before believing any number."""

from typing import Any

import pyarrow as pa
import streamlit as st

from radixflow.app.components.frame.chart_preload import preload_charts
from radixflow.app.components.shown.arm_name import show_arm
from radixflow.app.components.text import plain_markdown
from radixflow.app.sentences.run_state import state_warnings

_WIDE = """<style>
[data-testid="stMainBlockContainer"] { padding: 1.4rem 2.5rem 3rem; }
[data-testid="stHeader"] { background: transparent; }
</style>"""
"""Style sheet that narrows Streamlit's margins around a page, because a timeline needs the width."""


def start_page(title: str, runs: pa.Table) -> None:
    """Draw the head of a page; simulated, incomplete, running and faulty runs are marked here, so on every page.

    Args:
        title: Title of the page.
        runs: Rows of ``runs``.
    """
    st.html(_WIDE)
    preload_charts()
    st.title(title, anchor=False)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for run in runs.to_pylist():
            _arm_chip(run)
    warnings = [plain_markdown(sentence) for sentence in state_warnings(runs)]
    if warnings:
        st.warning("  \n".join(warnings), icon=":material/warning:")


def _arm_chip(run: dict[str, Any]) -> None:
    show_arm(run["label"], run["policy"])
    if run["engine_kind"] == "simulated":
        st.badge("Simulated engine", icon=":material/science:", color="violet")
    if run["state"] == "incomplete":
        st.badge("Incomplete", icon=":material/broken_image:", color="orange")
    if run["state"] == "recording":
        st.badge("Recording", icon=":material/fiber_manual_record:", color="red")
