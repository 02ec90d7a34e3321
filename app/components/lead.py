"""The sentence above a figure that says what it shows."""

import streamlit as st

from radixflow.app.components.text import plain_markdown


def show_lead(sentence: str) -> None:
    """Show what a figure says, in words, larger than a caption."""
    st.markdown(f"##### {plain_markdown(sentence)}")


def show_section(title: str) -> None:
    """Start a section of a page."""
    st.subheader(title, anchor=False)


def show_hint(text: str) -> None:
    """Show how to read or use what stands above. Our own text, never a run's."""
    st.caption(text)
