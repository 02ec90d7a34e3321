"""The real app, started as a user starts it, in headless Chromium."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "screenshots"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Watched:
    """What a browser page did besides showing itself."""

    foreign_requests: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium of this machine; it does not outlive its tests, since it keeps an event loop in this thread."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    playwright_api = pytest.importorskip("playwright.sync_api")
    with playwright_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@contextmanager
def running_app(runs: Path, log: Path) -> Iterator[str]:
    """Start ``streamlit run app/main.py`` on a folder of runs, from another folder, and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app" / "main.py"), "--server.port", str(port)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / ".import_root")}
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, "--", "--runs", str(runs)],
            cwd=log.parent,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait_until_healthy(address: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(240):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(address, timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.25)
    raise AssertionError(f"the app did not start: {log.read_text()}")


def watch(page, address: str) -> Watched:
    """Note every request that leaves the app's own address, and every error of the page."""
    seen = Watched()

    def on_request(request) -> None:
        if not request.url.startswith((address, address.replace("http", "ws", 1), "data:", "blob:", "file:")):
            seen.foreign_requests.append(request.url)

    def on_console(message) -> None:
        # Streamlit asks for its own health below the page of a deep link first; that address does not exist.
        if message.type == "error" and "/_stcore/" not in str(message.location.get("url")):
            seen.failures.append(message.text)

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("pageerror", lambda error: seen.failures.append(str(error)))
    return seen
