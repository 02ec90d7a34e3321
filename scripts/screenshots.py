"""Take pictures of every page of the app, in both themes, into screenshots/; with --readme those of docs/images too.

Run: .venv/bin/python scripts/screenshots.py [--runs sample_runs] [--readme]
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import Any

from app_in_browser import ROOT, chromium, page_paths, running_app, settle
from PIL import Image

OUTPUT = ROOT / "screenshots"
IMAGES = ROOT / "docs" / "images"
README = {
    "timeline": ("timeline", "light", 1180),
    "timeline-dark": ("timeline?from=900&to=1700&round=21", "dark", 900),
    "round": ("round", "light", 900),
    "compare": ("compare", "light", 900),
}
"""Picture of the README to the address of its page, its theme and its height."""


def open_page(browser: Any, theme: str, width: int = 1440, height: int = 900) -> Any:
    """Open an empty page in one theme."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(90_000)
    return page


def take_all(browser: Any, address: str) -> int:
    """Take a picture of every page in both themes, whole; return how many were taken."""
    taken = 0
    for theme in ("light", "dark"):
        page = open_page(browser, theme)
        page.goto(address)
        settle(page)
        for path in page_paths(page):
            page.set_viewport_size({"width": 1440, "height": 900})
            page.goto(f"{address}/{path}")
            settle(page, 1200)
            height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
            page.set_viewport_size({"width": 1440, "height": max(900, min(4000, height))})
            settle(page, 800)
            page.screenshot(path=OUTPUT / f"{path or 'overview'}-{theme}.png")
            taken += 1
        page.context.close()
    return taken


def take_for_readme(browser: Any, address: str) -> None:
    """Take the pictures of the README, at the least width that the app is made for."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, (path, theme, height) in README.items():
        page = open_page(browser, theme, 1280, height)
        page.goto(f"{address}/{path}")
        settle(page, 1500)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.save(IMAGES / f"{name}.png", optimize=True)
        page.context.close()


def main(arguments: list[str]) -> int:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=Path, default=ROOT / "sample_runs")
    parser.add_argument("--readme", action="store_true", help="take the pictures of the README, and no others")
    chosen = parser.parse_args(arguments)
    OUTPUT.mkdir(exist_ok=True)
    with running_app(chosen.runs) as (address, _), chromium() as browser:
        if chosen.readme:
            take_for_readme(browser, address)
        else:
            print(f"{take_all(browser, address)} pictures are in {OUTPUT.name}/.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
