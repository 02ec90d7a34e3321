"""In which order tests run, and which of them stay in one process of a parallel run (``pytest -n 2``)."""

from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
STARTED = ("engine", "browser")
"""Marks of tests that start an engine or a browser. They take longest, so they begin first, side by side."""
TOGETHER = {
    "tests/app/test_console.py": "console",
    "tests/app/test_figures.py": "figures",
    "tests/architecture/test_import_contracts.py": "planted imports",
    "tests/architecture/test_packaging.py": "distributions",
    "tests/architecture/test_public_names.py": "public names",
    "tests/browser/test_app_in_chromium.py": "browser",
    "tests/browser/test_lens_in_chromium.py": "browser",
    "tests/collector/engines/test_component_spans.py": "recorded spans",
    "tests/collector/engines/test_recording.py": "recordings",
    "tests/collector/instrumentation/spans/test_nvtx.py": "walks with a tool",
    "tests/collector/odd_runs/test_kills.py": "killed recordings",
    "tests/collector/outputs/test_flex_idle.py": "held stream",
    "tests/schema/checking/test_repair.py": "killed repairs",
    "tests/schema/reading/test_windows.py": "windows",
    "tests/schema/views/test_sampled.py": "sampled run",
}
"""Files whose tests share something costly (an engine, a browser, a recording), and a name for it. Spread over two
processes, each would make it anew. The mark ``xdist_group`` says the same, but has no effect with pytest 9.2."""


class TogetherScheduling(LoadScopeScheduling):
    """Hands out tests one by one in their order, and those that share something together."""

    def _split_scope(self, nodeid: str) -> str:
        return TOGETHER.get(nodeid.partition("::")[0], nodeid)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a list of files that is out of date."""
    missing = [file for file in TOGETHER if not (ROOT / file).is_file()]
    if missing:
        raise pytest.UsageError(f"tests/conftest.py names files that are not there: {', '.join(missing)}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process of a parallel run is left with it at the end."""
    items.sort(key=lambda item: not any(item.get_closest_marker(mark) for mark in STARTED))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> TogetherScheduling:
    """Share out the tests of a parallel run; called by pytest-xdist in the process that does so."""
    config.option.loadscopereorder = False  # largest groups first would put engines last
    return TogetherScheduling(config, log)
