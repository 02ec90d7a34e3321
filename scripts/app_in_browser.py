"""Starts the app as a user does, and opens it in headless Chromium: for pictures and for measurements."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def running_app(runs: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start ``streamlit run app/main.py`` on a folder of runs; give its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app" / "main.py"), "--server.port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / ".import_root")}
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+b") as log:
        process = subprocess.Popen(
            [*command, "--", "--runs", str(runs.resolve())], cwd=folder, env=environment, stdout=log, stderr=log
        )
        try:
            _wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", process)
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.terminate()
            process.wait(20)


def _wait_until_healthy(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        if process.poll() is not None:
            raise SystemExit("The app did not start.")
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.25)
    raise SystemExit("The app did not answer within a minute.")


@contextmanager
def chromium() -> Iterator[Any]:
    """Start headless Chromium."""
    from playwright.sync_api import sync_playwright

    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise SystemExit(f"None of {', '.join(BROWSERS)} is installed.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"]
        )
        yield browser
        browser.close()


SETTLED = """() => document.querySelector('h1') && document.querySelector('[data-test-script-state=notRunning]')
    && !document.querySelector('[data-testid=stSkeleton]') && !document.querySelector('[data-stale=true]')
    && [...document.querySelectorAll('.js-plotly-plot')].every(each => each.querySelector('.main-svg'))"""
"""JavaScript that says whether the app has nothing to do and every figure is drawn."""


def settle(page: Any, quiet_ms: int = 500) -> None:
    """Wait until a page has nothing to do, and has had nothing to do for a while."""
    page.wait_for_function(SETTLED)
    page.wait_for_timeout(quiet_ms)
    page.wait_for_function(SETTLED)


def page_paths(page: Any) -> list[str]:
    """List the addresses of all pages, as the sidebar links to them."""
    links = page.get_by_test_id("stSidebarNavLink")
    links.first.wait_for()
    found = links.evaluate_all("links => links.map(link => new URL(link.href).pathname)")
    return [str(path).strip("/") for path in found]
