"""Speed of the app on a long run, in the browser: first paint of every page, zoom steps of the timeline, memory.

The app is started anew with an empty cache of summaries unless --warm is given, and each page is opened once. *First
paint* is when the title and the first figure or table of a page are drawn, *settled* when all are and nothing is left
to do: a page draws its parts from top to bottom, each as soon as its numbers are there. Both count from the request for
the address, in a browser that holds the app's files already. A zoom step is three turns of the wheel, which leave three
quarters of what is visible; it lasts from the last turn until what is drawn is the server's answer to what is visible
then, and nothing is left to do. Four of five steps lead from a run of hours to a round, the rest out again.
Memory is the JavaScript heap of the page after a garbage collection, and the proportional set size of Chromium's
renderer processes: pages that several share, such as its own code, are counted once.
The run is written first unless the folder already holds one.

Run: python -m benchmarks.app FOLDER [--rounds 1000000] [--steps 60] [--warm]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.generated_run import generate
from radixflow.schema.run_files.manifest import is_run
from scripts.app_in_browser import SETTLED, chromium, page_paths, running_app, settle

PAINT_TARGET_MS, ZOOM_TARGET_MS, MEMORY_TARGET_MB = 2000, 500, 500
_TURNS = 3
_TIMELINE = ".radixflow-timeline"
_ANSWERED = """() => {
    const plot = document.querySelector('.radixflow-timeline'), visible = plot._fullLayout.xaxis.range.map(Number);
    const isSame = visible.every((end, i) => Math.abs(end - plot.answered[i]) < 1e-3 * (visible[1] - visible[0]));
    return isSame && document.querySelector('[data-test-script-state=notRunning]');
}"""
_HAS_FIRST = """() => document.querySelector('h1')
    && document.querySelector('.js-plotly-plot .main-svg, [data-testid=stDataFrame] canvas')"""
_RANGE = "e => e.layout.xaxis.range.map(Number)"


def time_pages(page: Any, address: str, paths: list[str]) -> list[tuple[str, float, float]]:
    """Open every page by its address; return its name, ms until its first paint and ms until it has settled."""
    timings = []
    for path in paths:
        start = time.perf_counter()
        page.goto(f"{address}/{path}", wait_until="commit")
        page.wait_for_function(f"() => ({_HAS_FIRST})() || ({SETTLED})()", polling=20)
        first = time.perf_counter() - start
        page.wait_for_function(SETTLED, polling=20)
        settled = time.perf_counter() - start
        settle(page)
        timings.append((path or "overview", first * 1e3, settled * 1e3))
    return timings


def time_zooms(page: Any, address: str, steps: int) -> tuple[list[float], list[float], list[float], int]:
    """Zoom in and out with the wheel.

    Returns:
        Milliseconds of each step from the last turn of the wheel, and from the first one; the range at the narrowest
        step, and the most marks of a view.
    """
    page.goto(f"{address}/timeline")
    page.wait_for_selector(f"{_TIMELINE} .barlayer", state="attached")
    settle(page)
    plot = page.locator(_TIMELINE)
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 140)
    from_last, from_first, most, num_in = [], [], 0, round(0.8 * steps)
    for step in range(steps):
        first = time.perf_counter()
        for _ in range(_TURNS):
            page.mouse.wheel(0, -600 if step < num_in else 600)
        last = time.perf_counter()
        page.wait_for_function(_ANSWERED, polling=10, timeout=20_000)
        from_last.append((time.perf_counter() - last) * 1e3)
        from_first.append((time.perf_counter() - first) * 1e3)
        most = max(most, page.locator(f"{_TIMELINE} .barlayer .point").count())
        if step == num_in - 1:
            narrowest = plot.evaluate(_RANGE)
        page.wait_for_timeout(150)
    return from_last, from_first, narrowest, most


def memory_mb(page: Any) -> tuple[float, float]:
    """Return the JavaScript heap of a page after a collection, and the proportional memory of Chromium's renderers."""
    page.evaluate("() => window.gc && window.gc()")
    heap = page.evaluate("() => performance.memory.usedJSHeapSize") / 1e6
    return heap, sum(_proportional_mb(folder) for folder in Path("/proc").glob("[0-9]*") if _is_renderer(folder))


def _is_renderer(folder: Path) -> bool:
    try:
        command = (folder / "cmdline").read_bytes()
        parent = (folder / "stat").read_text().split(")")[-1].split()[1]
    except OSError:
        return False
    return b"--type=renderer" in command and int(parent) in _descendants(os.getpid())


def _descendants(root: int) -> set[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().split(")")[-1].split()[1])
        except OSError:
            continue
    found, grew = {root}, True
    while grew:
        more = {child for child, parent in parents.items() if parent in found} - found
        grew, found = bool(more), found | more
    return found


def _proportional_mb(folder: Path) -> float:
    try:
        rollup = (folder / "smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(row.split()[1]) for row in rollup.splitlines() if row.startswith("Pss:")) * 1024 / 1e6


def _new_page(browser: Any) -> Any:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.set_default_timeout(180_000)
    return page


def line(name: str, value: float, target: float, unit: str, more: str = "") -> None:
    """Print one line of the table."""
    print(f"{name:34}{value:10.0f} {unit:3}{target:8.0f}  {'met' if value <= target else 'MISSED':8}{more}", flush=True)


def _at_95(timings: list[float]) -> float:
    ordered = sorted(timings)
    return ordered[max(0, -(-95 * len(ordered) // 100) - 1)]


def benchmark(folder: Path, steps: int) -> None:
    """Print the table for one folder of runs."""
    print(f"{'':34}{'measured':>10} {'':3}{'target':>8}")
    with running_app(folder) as (address, _), chromium() as browser:
        page = _new_page(browser)
        page.goto(f"{address}/live")  # the browser's files, and the server's first import
        settle(page)
        for name, first, settled in time_pages(page, address, page_paths(page)):
            line(f"first paint, {name}", first, PAINT_TARGET_MS, "ms", f"settled after {settled:.0f} ms")
        again = time_pages(page, address, page_paths(page))
        worst = max(again, key=lambda each: each[2])
        middle = f"median {statistics.median(settled for *_, settled in again):.0f} ms, most of {worst[0]}"
        line("once more, settled", worst[2], PAINT_TARGET_MS, "ms", middle)
        page.context.close()
        page = _new_page(browser)  # what a person has open: one page, not all of them one after the other
        from_last, from_first, visible, most = time_zooms(page, address, steps)
        spread = f"median {statistics.median(from_last):.0f}, most {max(from_last):.0f} ms over {steps} steps"
        line("zoom step, 95th percentile", _at_95(from_last), ZOOM_TARGET_MS, "ms", spread)
        print(f"{'the same with the turns themselves':34}{_at_95(from_first):10.0f} ms")
        line("most marks in a view", most, 4000, "")
        heap, renderers = memory_mb(page)
        line("JavaScript heap", heap, MEMORY_TARGET_MB, "MB")
        line("memory of the renderers", renderers, MEMORY_TARGET_MB, "MB")
        print(f"the narrowest window was {visible[1] - visible[0]:.4g} ms long")


def main(arguments: list[str]) -> int:
    """Write the run if it is not there, and time the app on it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warm", action="store_true", help="use the cache of summaries of this user")
    chosen = parser.parse_args(arguments)
    run = chosen.folder / "generated" / "radix"
    if not is_run(run):
        generate(run, chosen.rounds)
    with tempfile.TemporaryDirectory() as cache:
        if not chosen.warm:
            os.environ["XDG_CACHE_HOME"] = cache
        benchmark(chosen.folder, chosen.steps)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
