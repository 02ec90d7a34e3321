"""Which request published which recurrent state, and in which round."""

from __future__ import annotations

from collections.abc import Iterable

from radixflow.collector.instrumentation.request_lives import RequestLife
from radixflow.collector.vllm_adapters.scan import StateMark

MAXIMUM_KEPT = 1_000_000
"""Published states remembered; the oldest are forgotten beyond."""


class Publications:
    """Remembers the round in which each state was really published."""

    def __init__(self) -> None:
        self._round_of: dict[bytes, int] = {}

    def publish(
        self, marks: Iterable[tuple[bytes, StateMark]], lives: dict[str, RequestLife], round_number: int
    ) -> dict[str, bytes]:
        """Note the states that this round writes; returns the last one of each request."""
        written: dict[str, bytes] = {}
        for block_hash, mark in marks:
            if not mark.already_published and mark.request_id in lives:
                self._round_of.pop(block_hash, None)  # written again after an eviction: it becomes the youngest
                self._round_of[block_hash] = round_number
                written[mark.request_id] = block_hash
        while len(self._round_of) > MAXIMUM_KEPT:
            del self._round_of[next(iter(self._round_of))]
        return written

    def round_of(self, block_hash: bytes | None) -> int | None:
        """Round in which a state was published, None if unknown."""
        return None if block_hash is None else self._round_of.get(block_hash)
