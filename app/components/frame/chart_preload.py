"""Makes the browser load Plotly while the server still computes; Streamlit loads it only with the first figure.

The file is the one that Streamlit brings and would load anyway. Should another release name it differently, nothing is
loaded early, and nothing else changes.
"""

from functools import cache
from pathlib import Path

import streamlit as st


def preload_charts() -> None:
    """Make the browser load the JavaScript of figures now. Call it once a page."""
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
