"""What an address may say: numbers that no element could take are dropped before one reads them."""

import math

import streamlit as st

_NUMBERS = {"from": 1e15, "to": 1e15, "round": 2.0**53}
"""Parameter to the greatest magnitude that it may have."""


def drop_unusable_numbers() -> None:
    """Drop parameters of the address that are no number or too large: an element raises an error over some."""
    for name, most in _NUMBERS.items():
        if name in st.query_params and not _is_usable(st.query_params[name], most):
            del st.query_params[name]


def _is_usable(text: str, most: float) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and abs(value) <= most
