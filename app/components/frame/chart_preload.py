"""Lets the browser read Plotly while the server adds up: Streamlit asks for it only with the first figure of a page.

The file is the one that Streamlit brings and would load anyway. Should another release name it differently, nothing is
loaded early, and nothing else changes.
"""

from functools import cache
from pathlib import Path

import streamlit as st


def preload_charts() -> None:
    """Ask the browser for the code of figures; once a page."""
    script = _script()
    if script:
        st.html(script, unsafe_allow_javascript=True)


@cache
def _script() -> str:
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    names = [path.name for path in folder.glob("PlotlyChart.*.js")]
    if len(names) != 1:
        return ""
    return f"""<script>{{
        const main = document.querySelector('script[type="module"][src*="/static/js/"]');
        if (main) import(new URL("{names[0]}", main.src)).catch(() => {{}});
    }}</script>"""
