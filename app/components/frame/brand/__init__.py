"""Name and sign of the workbench, drawn by itself: an icon by name would be fetched from another machine."""

from pathlib import Path

import streamlit as st

ICON = str(Path(__file__).with_name("icon.svg"))
"""The sign: a few used rows and a bubble."""

_TEXT_COLOURS = {"light": "#1B2733", "dark": "#E4EAF0"}


def show_brand() -> None:
    """Show sign and name above the page list, in the text colour of the page."""
    colour = _TEXT_COLOURS.get(st.context.theme.type or "light", _TEXT_COLOURS["light"])
    st.logo(_logo(colour), size="large", icon_image=ICON)


def _logo(text_colour: str) -> str:
    sign = (
        Path(ICON).read_text(encoding="utf-8").replace('width="32" height="32"', 'x="0" y="2" width="24" height="24"')
    )
    name = (
        f'<text x="34" y="20.5" font-family="Helvetica, Arial, sans-serif" font-size="18" '
        f'font-weight="650" fill="{text_colour}">RadixFlow</text>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 130 28" width="130" height="28">{sign}{name}</svg>'
