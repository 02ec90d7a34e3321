"""The snippets of docs/findings run, and their links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import vllm

from radixflow.collector.vllm_adapters.versions import version_pair

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs" / "findings").glob("*.md"))
NEEDS_ENGINE = "# needs the real engine"
SNIPPETS = {
    page.stem: text
    for page in PAGES
    for text in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    if not text.startswith(NEEDS_ENGINE)
}
VERSION = version_pair(vllm.__version__)


def said_by(snippet: str) -> str:
    """Standard output of a snippet, run as the pages say."""
    paths = [str(ROOT / ".import_root"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    # The release under test, if it is not the installed one, is in front of everything on the caller's path.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(reversed(paths)).lstrip(os.pathsep)}
    command = [sys.executable, "-c", snippet]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def test_pages_have_snippets_and_the_index_names_each_page() -> None:
    assert len(SNIPPETS) >= 4
    index = (ROOT / "docs" / "findings" / "README.md").read_text()
    assert [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in index] == []


def test_siblings_run_one_a_round_on_the_one_release() -> None:
    assert f"rounds {41 if VERSION == (0, 32) else 6}\n" in said_by(SNIPPETS["precise-readiness"])


def test_a_tail_is_registered_again_up_to_0_31() -> None:
    said = said_by(SNIPPETS["async-sub-block-tail"])
    again = "register block 1 of group 0 as the state of 48 tokens; computed so far 48"
    assert (again in said) == (VERSION < (0, 32))
    assert ("(1, 8)" in said) == (VERSION < (0, 32))


def test_a_blocked_sibling_stops_the_scan_with_blocks_to_spare() -> None:
    said = said_by(SNIPPETS["one-none-five-causes"])
    assert "free blocks 199" in said
    assert "('sibling', 'blocked', 'being_written')" in said
    assert "ready behind it {'unrelated': 64}" in said


def test_the_remedy_for_small_pools_reuses_more() -> None:
    reused = [int(number) for number in re.findall(r"reused (\d+)", said_by(SNIPPETS["reuse-under-pressure"]))]
    native, plain, keeping = reused
    assert plain < keeping <= native


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_paths_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    links = [link for link in re.findall(r"\]\(([^)#:]+)\)", text) if not (page.parent / link).exists()]
    paths = re.findall(r"`((?:app|collector|schema|tests|scripts|docs|benchmarks)/[\w./-]*)`", text)
    assert links + [path for path in paths if not (ROOT / path).exists()] == []
