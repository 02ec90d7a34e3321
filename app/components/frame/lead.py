"""The sentence above a figure that says what it shows."""

import streamlit as st

from radixflow.app.components.text import plain_markdown


def show_lead(sentence: str) -> None:
    """Show what a figure says, in words, larger than a caption."""
    st.markdown(f"##### {plain_markdown(sentence)}")


def show_section(title: str, meaning: str | None = None) -> None:
    """Start a section of a page.

    Args:
        title: Its title.
        meaning: What it shows, from the comments of a view; seen when hovering over the sign beside the title.
    """
    st.subheader(title, anchor=False, help=None if meaning is None else plain_markdown(meaning))


def show_text(*sentences: str) -> None:
    """Show sentences as running text."""
    st.markdown(" ".join(plain_markdown(sentence) for sentence in sentences))


def show_hint(text: str) -> None:
    """Show how to read or use what stands above. Our own text, never a run's."""
    st.caption(text)
