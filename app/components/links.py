"""Ways from one page to another: the address of the other page names the arm and what it shows."""

from typing import Any

import streamlit as st

_PLACE = ("arm", "round", "request", "axis", "from", "to", "pair", "subject", "interval", "clock", "policies")
"""Parameters that say what one page shows; all others (stream, arms, filters) go along to the next page."""


def open_round(label: str, number: int) -> None:
    """Go to the page of one round.

    Args:
        label: Name of the run.
        number: The round.
    """
    st.switch_page("pages/round.py", query_params=_address(label) | {"round": str(number)})


def open_request(label: str, request_id: str) -> None:
    """Go to the page of one request.

    Args:
        label: Name of the run.
        request_id: Name of the branch.
    """
    st.switch_page("pages/request.py", query_params=_address(label) | {"request": request_id})


def open_round_of(mark: list[Any]) -> None:
    """Go to the page of one round.

    Args:
        mark: Name of the run and number of the round, as the mark of a figure carries them.
    """
    label, number = mark
    open_round(label, number)


def open_request_of(mark: list[str]) -> None:
    """Go to the page of one request.

    Args:
        mark: Name of the run and of the branch, as the mark of a figure carries them.
    """
    label, request_id = mark
    open_request(label, request_id)


def _address(label: str) -> dict[str, str | list[str]]:
    kept = {name: st.query_params.get_all(name) for name in st.query_params if name not in _PLACE}
    return {**kept, "arm": label}
