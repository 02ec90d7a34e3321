"""The name of an arm in its colour."""

import html

import streamlit as st

from radixflow.app.figures.style.palette import arm_style


def show_arm(label: str, policy: str) -> None:
    """Show the name of an arm with its colour."""
    sign = f'<span style="color:{arm_style(policy).colour}">■</span>'
    st.html(f"<span>{sign}&nbsp; <b>{html.escape(label)}</b></span>", width="content")
