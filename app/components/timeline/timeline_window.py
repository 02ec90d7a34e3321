"""Which part of the timeline is visible: kept in the address, moved by inputs, buttons, mouse and keys alike."""

import math
from typing import Any

import streamlit as st

from radixflow.app.components.addresses.round_link import ask_to_open
from radixflow.app.queries.cached import Selection, ask, read
from radixflow.app.queries.slot_raster import extent, neighbour, whole_window
from radixflow.app.queries.windowed import Window

VIEW = "timeline_view"
_AXES = {"time": "Time", "round": "Round number"}
_FORGOTTEN = "timeline_window_forgotten"
_UNITS = {"time": "ms", "round": "round"}


def timeline_window(selection: Selection) -> Window:
    """Draw the controls of the window and return it.

    Args:
        selection: The opened runs.
    """
    place = st.columns([1.7, 1.2, 1.2, 3.7], vertical_alignment="bottom")
    with place[0]:
        axis = st.segmented_control(
            "Arms aligned by",
            list(_AXES),
            format_func=lambda each: _AXES[each],
            default="time",
            required=True,
            key="axis",
            bind="query-params",
            on_change=forget_window,
        )
    whole = whole_window(read(extent, selection), axis)
    if st.session_state.pop(_FORGOTTEN, False):
        st.session_state["from"], st.session_state["to"] = whole.low, whole.high
    unit = _UNITS[axis]
    low = place[1].number_input(f"From ({unit})", value=whole.low, key="from", bind="query-params", format="%.4g")
    high = place[2].number_input(f"To ({unit})", value=whole.high, key="to", bind="query-params", format="%.4g")
    window = Window(axis, low, high) if low < high else whole
    with place[3], st.container(horizontal=True, gap="small"):
        for title, direction, icon in (("Previous bubble", "previous", "left"), ("Next bubble", "next", "right")):
            arguments = (window, selection, direction)
            st.button(title, icon=f":material/chevron_{icon}:", on_click=_jump, args=arguments)
        st.button("Whole run", icon=":material/fit_screen:", on_click=forget_window)
    return window


def forget_window() -> None:
    """Go back to the whole run, whichever run and axis the next page shows."""
    st.session_state[_FORGOTTEN] = True


def follow_view() -> None:
    """Callback: make the range that mouse or keyboard moved the figure to the window of the page."""
    visible = st.session_state[VIEW].get("range")
    if visible:
        move_window(Window(st.session_state["axis"], float(visible[0]), float(visible[1])))


def follow_jump(window: Window, selection: Selection) -> None:
    """Callback: move the window as a key asked (previous or next bubble, whole run), or open the selected round."""
    asked = st.session_state[VIEW].get("jump")
    if asked == "whole":
        forget_window()
    elif asked in ("previous", "next"):
        _jump(window, selection, asked)
    elif asked == "open" and st.session_state.get("round") is not None:
        ask_to_open(st.session_state.get("arm"), st.session_state["round"])


def follow_pick() -> None:
    """Callback: open the round that was clicked, or select it if Shift was held."""
    event: dict[str, Any] = st.session_state[VIEW]
    if event.get("open"):
        ask_to_open(*event["open"])
    elif event.get("select"):
        st.session_state["arm"], st.session_state["round"] = event["select"]


def _jump(window: Window, selection: Selection, direction: str) -> None:
    found = ask(neighbour, selection, window, direction)
    if found:
        move_window(found)


def move_window(window: Window) -> None:
    """Set the window of the page, rounded to what its length makes visible, so that addresses stay short."""
    digits = 4 - math.floor(math.log10(max(window.high - window.low, 1e-9)))
    st.session_state["from"], st.session_state["to"] = round(window.low, digits), round(window.high, digits)
