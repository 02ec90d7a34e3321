"""The words of the project are explained in docs/design.md, and the glossary holds no word that nobody uses."""

from __future__ import annotations

import re

import pytest

from tests.architecture.trees import PACKAGES, ROOT, tracked_files

DESIGN = (ROOT / "docs" / "design.md").read_text()
SECTION = DESIGN[DESIGN.index("\n## Words\n") : DESIGN.index("\n## Packages and arrows\n")]
# What a newcomer asked about. A word that takes a meaning of its own in the code is added here and in the glossary.
ASKED_FOR = {
    "arm", "gate", "held", "hold", "hook", "keeper", "lens", "let go", "mark", "note", "probe", "put off", "raster",
    "regime", "round", "scan", "segment", "shadow", "shape", "span", "step", "visit", "witness",
}  # fmt: skip


def explained(section: str) -> set[str]:
    """The words in the first column of the tables of a text."""
    cells = re.findall(r"^\| ([^|]+) \| ", section, re.MULTILINE)
    return {word.strip() for cell in cells for word in cell.split(",")} - {"word"}


def in_words(text: str) -> str:
    """A text in small letters, names of the code taken apart: ``num_rounds`` and ``RunKeeper`` are two words each."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return re.sub(r"[\s_-]+", " ", apart).lower()


SOURCES = [path for package in PACKAGES for path in tracked_files(f"{package}/**/*.py", f"{package}/**/*.sql")]
USED = in_words(" ".join((ROOT / path).read_text() for path in SOURCES))


def is_used(word: str) -> bool:
    """Whether a word, also in the plural or the past, stands in the code or its docstrings."""
    return re.search(rf"\b{re.escape(in_words(word))}(s|es|ed|d)?\b", USED) is not None


def test_the_words_that_newcomers_asked_about_are_explained() -> None:
    assert ASKED_FOR - explained(SECTION) == set()


@pytest.mark.parametrize("word", sorted(explained(SECTION)))
def test_a_word_of_the_glossary_is_used(word: str) -> None:
    assert is_used(word)


def test_a_missing_and_an_unused_word_are_found() -> None:
    without_gate = SECTION.replace("| gate |", "| door |")
    assert ASKED_FOR - explained(without_gate) == {"gate"}
    assert not is_used("turnstile")
