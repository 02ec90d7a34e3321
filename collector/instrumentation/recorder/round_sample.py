"""Which rounds a recording keeps, and exact counts over all of them."""

from __future__ import annotations

import random
from typing import Any

from radixflow.collector.instrumentation.notes.step_notes import Visit


class RoundSample:
    """Draws each round by itself, so that no rhythm of the traffic meets one of the sample.

    Args:
        share: Share of the rounds to keep, above 0; from 1 on every round is.

    Attributes:
        is_whole: Whether every round is kept; nothing is counted then, since everything can be.
        is_kept: Whether the present round is.
    """

    def __init__(self, share: float) -> None:
        self.is_whole = share >= 1
        self.is_kept = True
        self._share = share
        self._random = random.Random()
        self._counts = {"rounds": 0, "rows": 0, "tokens": 0, "empty_steps": 0, "blocked_visits": 0}

    def draw(self) -> None:
        """Decide on the round that begins."""
        self.is_kept = self.is_whole or self._random.random() < self._share

    def count_empty_step(self) -> None:
        """Count a step without work: it belongs to no round, and may come after the last one."""
        if not self.is_whole:
            self._counts["empty_steps"] += 1

    def count(self, scheduled: dict[str, int], visits: list[Visit]) -> None:
        """Count a round, kept or not.

        Args:
            scheduled: Tokens by request.
            visits: Visits of its scan.
        """
        if self.is_whole:
            return
        counts = self._counts
        counts["rounds"] += 1
        counts["rows"] += len(scheduled)
        counts["tokens"] += sum(scheduled.values())
        counts["blocked_visits"] += sum(visit.outcome == "blocked" for visit in visits)

    def facts(self) -> dict[str, Any]:
        """What the writer says of the sample; nothing where every round is kept."""
        if self.is_whole:
            return {}
        return {"sampling": {"rounds_fraction": self._share, "counts": dict(self._counts)}}
