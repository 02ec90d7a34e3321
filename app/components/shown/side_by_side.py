"""Columns of equal width."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def side_by_side(count: int) -> list[DeltaGenerator]:
    """Make columns of equal width."""
    return st.columns(count, gap="large")
