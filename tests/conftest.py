"""In which order tests run. Those that share something costly name it by the mark ``xdist_group``."""

import pytest

STARTED = ("engine", "browser")
"""Marks of tests that start an engine or a browser. They take longest, so they begin first, side by side."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process of a parallel run is left with it at the end."""
    items.sort(key=lambda item: not any(item.get_closest_marker(mark) for mark in STARTED))
