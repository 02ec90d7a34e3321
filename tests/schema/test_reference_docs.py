"""The reference pages say what the declarations say."""

import re
from pathlib import Path

import pytest

from radixflow.schema.reference_docs import PAGES, main
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.views.catalog import view_sources

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_generated(name):
    assert (DOCS / name).read_text() == PAGES[name](), "run: python -m radixflow.schema.reference_docs docs"


def test_the_command_writes_every_page(tmp_path):
    assert main([str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == set(PAGES)


def test_the_pages_name_every_table_and_metric():
    run_format, metrics = (DOCS / "run-format.md").read_text(), (DOCS / "metrics.md").read_text()
    for table, schema in ALL_TABLES.items():
        assert f"### {table}\n" in run_format
        assert all(f"| `{name}` |" in run_format for name in schema.names)
    assert "| `bubble_round_fraction` | fraction |" in metrics and "| `num_bubble_rounds / num_rounds` |" in metrics


def missing_sources(text):
    """SQL files that a page names and that are not there."""
    return [path for path in re.findall(r"`(schema/views/[\w/]+\.sql)`", text) if not (DOCS.parent / path).is_file()]


def test_every_named_source_is_there():
    text = (DOCS / "metrics.md").read_text()
    assert text.count("Source: `schema/views/") == len(view_sources())
    assert missing_sources(text) == []


def test_a_source_that_moved_is_found():
    assert missing_sources("Source: `schema/views/round_times.sql`, over `rounds`.") == ["schema/views/round_times.sql"]
