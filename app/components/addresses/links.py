"""Links from one page to another, which hand over what the other page shall show.

Streamlit refuses to set a parameter of the address to which a control of the page is bound, as those of an arm, a round
and a request are. So the controls of the next page take their values from the session instead.
"""

from typing import Any

import pyarrow as pa
import streamlit as st

_HANDED_OVER = "handed_over"


def open_round(label: str, number: int) -> None:
    """Go to the page of one round.

    Args:
        label: Name of the run.
        number: The round.
    """
    _go("pages/round.py", label, {"round": int(number)})


def open_request(label: str, request_id: str) -> None:
    """Go to the page of one request.

    Args:
        label: Name of the run.
        request_id: Name of the branch.
    """
    _go("pages/request.py", label, {"request": request_id})


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


def arrive(runs: pa.Table) -> None:
    """Apply what another page handed over. Call it before the controls for arm, round or request are drawn.

    Args:
        runs: Rows of ``runs``.
    """
    handed = st.session_state.pop(_HANDED_OVER, None)
    if handed is None:
        return
    label, values = handed
    places = {run["label"]: run["run"] for run in runs.to_pylist()}
    if label in places:
        st.session_state["arm"] = places[label]
        for name, value in values.items():
            st.session_state[name] = value
            st.query_params[name] = str(value)  # some controls write only later changes into the address


def _go(page: str, label: str, values: dict[str, int | str]) -> None:
    st.session_state[_HANDED_OVER] = (label, values)
    st.switch_page(page, query_params={})
