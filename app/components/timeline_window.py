"""Which part of the timeline is visible: kept in the address, moved by inputs, buttons, mouse and keys alike."""

import math
from typing import Literal

import pyarrow as pa
import streamlit as st

from radixflow.app.queries.slot_raster import Window, neighbour, whole_window

VIEW = "timeline_view"
_AXES = {"time": "Time", "round": "Round number"}
_FORGOTTEN = "timeline_window_forgotten"
_UNITS = {"time": "ms", "round": "round"}


def timeline_window(extent: pa.Table, bubbles: pa.Table) -> Window:
    """Draw the controls of the window and return it.

    Args:
        extent: Rows of ``queries.slot_raster.extent``.
        bubbles: Rows of ``queries.slot_raster.bubble_rounds``, for the buttons that go from bubble to bubble.
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
    whole = whole_window(extent, axis)
    if st.session_state.pop(_FORGOTTEN, False):
        st.session_state["from"], st.session_state["to"] = whole.low, whole.high
    unit = _UNITS[axis]
    low = place[1].number_input(f"From ({unit})", value=whole.low, key="from", bind="query-params", format="%.4g")
    high = place[2].number_input(f"To ({unit})", value=whole.high, key="to", bind="query-params", format="%.4g")
    window = Window(axis, low, high) if low < high else whole
    with place[3], st.container(horizontal=True, gap="small"):
        st.button("Previous bubble", icon=":material/chevron_left:", on_click=_jump, args=(window, bubbles, "previous"))
        st.button("Next bubble", icon=":material/chevron_right:", on_click=_jump, args=(window, bubbles, "next"))
        st.button("Whole run", icon=":material/fit_screen:", on_click=forget_window)
    return window


def forget_window() -> None:
    """Go back to the whole run, whichever run and axis the next page shows."""
    st.session_state[_FORGOTTEN] = True


def follow_view() -> None:
    """Take over the range to which the mouse or a key has moved the figure."""
    visible = st.session_state[VIEW].get("range")
    if visible:
        _set(Window(st.session_state["axis"], float(visible[0]), float(visible[1])))


def follow_jump(window: Window, bubbles: pa.Table) -> None:
    """Go where a key of the figure asked to go."""
    asked = st.session_state[VIEW].get("jump")
    if asked == "whole":
        forget_window()
    elif asked in ("previous", "next"):
        _jump(window, bubbles, asked)


def _jump(window: Window, bubbles: pa.Table, direction: Literal["previous", "next"]) -> None:
    found = neighbour(window, bubbles, direction)
    if found:
        _set(found)


def _set(window: Window) -> None:
    """Move the window; as many digits are kept as its length calls for, so that addresses stay short."""
    digits = 4 - math.floor(math.log10(max(window.high - window.low, 1e-9)))
    st.session_state["from"], st.session_state["to"] = round(window.low, digits), round(window.high, digits)
