"""Which request a page shows: kept in the address, found by name, moved by buttons."""

from typing import Any

import pyarrow as pa
import streamlit as st

from radixflow.app.components.addresses.links import arrive
from radixflow.app.components.choices.arm_choice import choose_arm
from radixflow.app.components.text import plain_markdown
from radixflow.app.queries import request_lens
from radixflow.app.queries.cached import Selection, read

KEY = "request"
_BUTTONS = (
    ("Previous request", ":material/chevron_left:", "previous_request", "Left"),
    ("Next request", ":material/chevron_right:", "next_request", "Right"),
)


def choose_request(runs: pa.Table, selection: Selection) -> tuple[dict[str, Any], str | None]:
    """Ask for an arm and a request of it; without one in the address the request that waited longest is shown.

    Args:
        runs: Rows of ``runs``.
        selection: The opened runs.

    Returns:
        The run (its row of ``runs``) and the name of the request; None if the run has no request.
    """
    arrive(runs)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        run = choose_arm(runs)
        names = read(request_lens.interesting, selection, run)["request_id"].to_pylist()
        wanted = st.session_state.get(KEY) or st.query_params.get(KEY)
        if wanted is None and names:
            st.session_state[KEY] = st.query_params[KEY] = wanted = names[0]
        name = st.selectbox(
            "Request",
            list(dict.fromkeys([*([wanted] if wanted else []), *names])),
            index=None,
            placeholder="Name of a request",
            key=KEY,
            bind="query-params",
            accept_new_options=True,
            width=260,
            help="The requests that waited longest are listed. Type any other name, or a part of it, and press Enter.",
        )
        near = read(request_lens.neighbours, selection, run, name).to_pylist() if name else []
        for label, icon, target, shortcut in _BUTTONS:
            to = near[0][target] if near else None
            st.button(label, icon=icon, on_click=_go, args=(to,), disabled=to is None, shortcut=shortcut)
    return next(each for each in runs.to_pylist() if each["run"] == run), name


def suggest_requests(names: list[str]) -> None:
    """Offer requests whose names are like the one that was asked for."""
    with st.container(horizontal=True, gap="small"):
        for name in names:
            st.button(plain_markdown(name), key=f"suggested_{name}", on_click=_go, args=(name,))


def _go(name: str) -> None:
    st.session_state[KEY] = name
