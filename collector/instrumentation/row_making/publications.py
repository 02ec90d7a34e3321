"""Remembers which request published which recurrent state in which round, and when that round's output arrived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from radixflow.collector.instrumentation.row_making.request_lives import RequestLife
from radixflow.collector.vllm_adapters.scan import StateMark

MAXIMUM_KEPT = 1_000_000
"""Published states remembered; the oldest are forgotten beyond."""


@dataclass(slots=True)
class Publication:
    """One recurrent state that was really published, not only marked.

    Attributes:
        round_number: Round that scheduled the tokens which write the state.
        request: Number of the request that they belong to.
        completed_ns: When the output of that round had been processed; None while it is in flight. Under asynchronous
            scheduling the next round is scheduled before, so that a round number alone does not say that the state is
            there.
    """

    round_number: int
    request: int
    completed_ns: int | None = None


class Publications:
    """Remembers who published each state."""

    def __init__(self) -> None:
        self._of_state: dict[bytes, Publication] = {}
        self._in_flight: dict[int, list[Publication]] = {}

    def publish(
        self, marks: Iterable[tuple[bytes, StateMark]], lives: dict[str, RequestLife], round_number: int
    ) -> dict[str, bytes]:
        """Remember the states that a round really writes (not those only marked again).

        Returns:
            For each request the last state that it publishes in the round.
        """
        written: dict[str, bytes] = {}
        for block_hash, mark in marks:
            life = lives.get(mark.request_id)
            if not mark.already_published and life is not None:
                publication = Publication(round_number, life.number)
                self._of_state.pop(block_hash, None)  # written again after an eviction: it becomes the youngest
                self._of_state[block_hash] = publication
                self._in_flight.setdefault(round_number, []).append(publication)
                written[mark.request_id] = block_hash
        while len(self._of_state) > MAXIMUM_KEPT:
            del self._of_state[next(iter(self._of_state))]
        return written

    def complete(self, round_number: int, now_ns: int) -> None:
        """Note that the output of a round has been processed."""
        for publication in self._in_flight.pop(round_number, ()):
            publication.completed_ns = now_ns

    def of(self, block_hash: bytes) -> Publication | None:
        """Return who published the state with this hash, or None if that is not known (any more)."""
        return self._of_state.get(block_hash)
