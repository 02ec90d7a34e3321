"""A Plotly figure that reports its visible range, which Streamlit's own Plotly element does not.

The server then queries for just that range. The JavaScript is Plotly's own bundle, as the Python package brings it;
nothing is loaded from another machine. The bundle travels in an element of its own whose message never changes, so that
a browser gets its megabytes once and a zoom sends figure data alone.
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import plotly
import plotly.graph_objects as go
import streamlit as st
from plotly.io.json import to_json_plotly

from radixflow.app.components.shown.downloads import show_downloads
from radixflow.app.figures.style.figure_table import figure_table
from radixflow.app.figures.style.interaction import plotly_config

_HERE = Path(__file__).parent
_BUNDLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def timeline_view(
    parts: dict[str, Any],
    key: str,
    on_range: Callable[[], None],
    on_jump: Callable[[], None],
    on_pick: Callable[[], None],
) -> None:
    """Show a figure whose x axis can be moved with mouse and keys.

    Args:
        parts: The figure, ``data`` and ``layout``; its first x axis carries the visible range, and marks that can be
            clicked carry run, first and last round as custom data, with a blank between.
        key: Key of the element. ``st.session_state[key]`` then holds ``range``, the visible range as two numbers;
            ``jump``: ``previous``, ``next``, ``whole`` or ``open`` when a key asked for it; and ``open`` or ``select``:
            ``[run, round]`` when a round was clicked, without or with Shift.
        on_range: Called when the visible range was moved.
        on_jump: Called when a key asked for another place.
        on_pick: Called when a round was clicked.
    """
    with st.container(key="block_timeline", gap=None):
        _draw(parts, key, on_range, on_jump, on_pick)
        show_downloads("timeline", lambda: figure_table(go.Figure(parts)), "block_timeline")
    _bundle_component()(key="plotly_bundle", height=1)


def _draw(
    parts: dict[str, Any],
    key: str,
    on_range: Callable[[], None],
    on_jump: Callable[[], None],
    on_pick: Callable[[], None],
) -> None:
    height = parts["layout"]["height"]
    _timeline_component()(
        data={"figure": to_json_plotly(parts), "height": height, "config": plotly_config("timeline")},
        key=key,
        height=int(height) + 8,
        default={"range": None},
        on_range_change=on_range,
        on_jump_change=on_jump,
        on_open_change=on_pick,
        on_select_change=on_pick,
    )


@cache
def _bundle_component() -> Any:
    source = f"const source = {json.dumps(_BUNDLE.read_text(encoding='utf-8'))};\n"
    return st.components.v2.component("plotly_bundle", js=source + (_HERE / "bundle.js").read_text(encoding="utf-8"))


@cache
def _timeline_component() -> Any:
    return st.components.v2.component(
        "radixflow_timeline",
        html='<div class="radixflow-timeline" tabindex="0" role="figure" aria-label="Execution-bubble timeline"></div>',
        css=(_HERE / "timeline.css").read_text(encoding="utf-8"),
        js=(_HERE / "timeline.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )
