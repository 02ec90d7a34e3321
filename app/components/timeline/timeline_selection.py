"""What is selected on the timeline: a request that was searched, or a round. Both are kept in the address."""

import pyarrow as pa
import streamlit as st

from radixflow.app.components.addresses.round_link import open_asked_round, show_ways
from radixflow.app.components.choices.arm_choice import choose_arm
from radixflow.app.components.text import plain_markdown
from radixflow.app.components.timeline.timeline_window import move_window
from radixflow.app.queries.cached import Selection, read
from radixflow.app.queries.dependencies import Selected, find_requests
from radixflow.app.queries.windowed import Window

_MARGIN = 0.25


def timeline_selection(runs: pa.Table, selection: Selection) -> Selected:
    """Draw the search, the choice of a round and its link, and return what is selected.

    Args:
        runs: Rows of ``runs``.
        selection: The opened runs.
    """
    labels = {run["run"]: str(run["label"]) for run in runs.to_pylist()}
    open_asked_round(labels)
    place = st.columns([1.7, 1.2, 2.4, 2.5], vertical_alignment="bottom")
    with place[0]:
        text = st.text_input(
            "Find a request", key="request", bind="query-params", placeholder="part of its name  ( / )",
            on_change=_go_to_request, args=(selection,),
        )  # fmt: skip
    with place[1]:
        number = st.number_input(
            "Round", value=None, min_value=1, step=1, key="round", bind="query-params", placeholder="none",
            help="Its producers and consumers are joined by arrows. Shift and a click on the raster choose it, too.",
        )  # fmt: skip
    with place[2]:
        run = choose_arm(runs)
    request = _found(text, selection)
    with place[3], st.container(horizontal=True, gap="small"):
        show_ways(labels[run], number, request)
    return Selected(run, number, None) if number is not None else Selected(request=request)


def _found(text: str | None, selection: Selection) -> str | None:
    """Return the request that a text stands for, and offer the others that it may mean."""
    if not text:
        return None
    names = [str(name) for name in read(find_requests, selection, text)["request_id"].to_pylist()]
    if not names:
        st.caption(f"No request has “{plain_markdown(text)}” in its name.")
        return None
    if names[0] != text:
        st.pills(
            "Requests with that text in their name", names, format_func=plain_markdown, key="request_match",
            on_change=_take_match, args=(selection,),
        )  # fmt: skip
    return names[0]


def _take_match(selection: Selection) -> None:
    chosen = st.session_state.get("request_match")
    if chosen:
        st.session_state["request"] = chosen
        _go_to_request(selection)


def _go_to_request(selection: Selection) -> None:
    """Move the window to the life of the request that was searched."""
    text = st.session_state.get("request")
    st.session_state["round"] = None
    found = read(find_requests, selection, text).to_pylist() if text else []
    if not found:
        return
    first, axis = found[0], st.session_state["axis"]
    low, high = (first["first_round"], first["last_round"]) if axis == "round" else (first["start_ms"], first["end_ms"])
    if low is not None and high is not None:
        margin = _MARGIN * (high - low) or 1.0
        move_window(Window(axis, low - margin, high + margin))
