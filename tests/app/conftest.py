"""Runs to open: each a folder for ``--runs``, written by hand."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from radixflow.schema.reading.connection import open_runs
from tests import builders

MAIN = Path(__file__).resolve().parents[2] / "app" / "main.py"


@pytest.fixture(scope="session", autouse=True)
def packages_scanned_once() -> Iterator[None]:
    """Let Streamlit look for components in the installed packages once, not at each run of a page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture
def pair(tmp_path) -> Iterator[object]:
    """A connection to both arms of the tiny stream; run 0 is prefix-stop, run 1 state-ready."""
    connection = open_runs(builders.tiny_pair(tmp_path))
    yield connection
    connection.close()


@pytest.fixture
def open_app(monkeypatch) -> Callable[[Path], AppTest]:
    """Return a function that starts the app on a folder of runs, as ``streamlit run app/main.py -- --runs DIR``."""
    st.cache_data.clear()
    st.cache_resource.clear()

    def start(runs: Path) -> AppTest:
        monkeypatch.setattr(sys, "argv", ["main.py", "--runs", str(runs)])
        return AppTest.from_file(str(MAIN), default_timeout=60)

    return start
