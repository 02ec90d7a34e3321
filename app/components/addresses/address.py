"""Cleans the query parameters of an address: numbers that an input element could not accept are removed."""

import math

import streamlit as st

_NUMBERS = {"from": 1e15, "to": 1e15, "round": 2.0**53}
"""Each numeric query parameter with the largest absolute value that it may have."""


def drop_unusable_numbers() -> None:
    """Remove query parameters that should be numbers and are not, or are too large for an input element."""
    for name, most in _NUMBERS.items():
        if name in st.query_params and not _is_usable(st.query_params[name], most):
            del st.query_params[name]


def _is_usable(text: str, most: float) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and abs(value) <= most
