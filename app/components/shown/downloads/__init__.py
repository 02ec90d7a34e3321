"""Saving a figure as an image, and the table behind it as a file. Images are made in the browser."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import streamlit as st

from radixflow.app.table_files import as_csv, as_parquet

_HERE = Path(__file__).parent


def show_downloads(name: str, table: Callable[[], pa.Table], block: str | None = None) -> None:
    """Show one button that unfolds the ways to save a figure or a table.

    Args:
        name: Name of the files, without ending.
        table: Gives the table; it is asked only when a person saves it.
        block: Key of the container that holds the figure; None for a table alone.
    """
    with (
        st.container(horizontal=True, horizontal_alignment="right"),
        st.popover("Save", icon=":material/download:", type="tertiary", key=f"save_{name}"),
    ):
        if block:
            data = {"block": block, "name": f"radixflow-{name}"}
            _images_component()(data=data, key=f"images_{name}", height="content")
        for title, ending, write in (("Table as CSV", "csv", as_csv), ("Table as Parquet", "parquet", as_parquet)):
            st.download_button(
                title,
                data=_deferred(table, write),
                file_name=f"radixflow-{name}.{ending}",
                key=f"{ending}_{name}",
                on_click="ignore",
                width="stretch",
            )


def _deferred(table: Callable[[], pa.Table], write: Callable[[pa.Table], bytes]) -> Callable[[], bytes]:
    return lambda: write(table())


@cache
def _images_component() -> Any:
    buttons = "".join(
        f'<button type="button" disabled data-format="{each}">Figure as {each.upper()}</button>'
        for each in ("png", "svg")
    )
    return st.components.v2.component(
        "radixflow_images",
        html=f'<div class="radixflow-images">{buttons}</div>',
        css=(_HERE / "images.css").read_text(encoding="utf-8"),
        js=(_HERE / "images.js").read_text(encoding="utf-8"),
    )
