"""Links from the timeline to the page of a round or a request."""

import streamlit as st

from radixflow.app.components.addresses.links import open_request, open_round

_ASKED = "round_asked_for"


def ask_to_open(run: int | None, number: int) -> None:
    """Remember that a person asked for a round: a Streamlit callback cannot switch pages by itself.

    Args:
        run: Index of the run; None for the first one.
        number: The round.
    """
    st.session_state[_ASKED] = (run or 0, int(number))


def open_asked_round(labels: dict[int, str]) -> None:
    """Switch to the page of the round that was asked for, if there is one.

    Args:
        labels: Index of each run to its name.
    """
    asked = st.session_state.pop(_ASKED, None)
    if asked and asked[0] in labels:
        open_round(labels[asked[0]], asked[1])


def show_ways(label: str, number: int | None, request: str | None) -> None:
    """Show links to the pages of the selected round and request.

    Args:
        label: Name of the run.
        number: Round that is selected.
        request: Name of the request that is selected.
    """
    if number is not None and st.button(f"Open round {number}", icon=":material/zoom_in:"):
        open_round(label, number)
    if request and st.button("Open the request", icon=":material/person_search:"):
        open_request(label, request)
