"""NVTX ranges of the components: domain ``radixflow``, constant registered texts, the number of the round as payload.

A tool that listens (Nsight Systems, for one) sees every component on the thread that did it, with the kernels that the
thread launched in it. Texts are registered once: a text with a number in it would be kept by the tool for ever.
"""

from __future__ import annotations

import time
from typing import Any

DOMAIN = "radixflow"
TEXT_OF = {
    "round": "round",
    "selection": "schedule",
    "lookup": "lookup",
    "dispatch": "dispatch",
    "execute": "execute",
    "restore": "restore",
    "forward": "forward",
    "sample": "sample",
    "publish": "publish",
    "update": "update",
}
"""Text of a component's range; schedule() is what a reader of vLLM looks for."""
CLOCK_ANCHOR = "clock_anchor"
"""Text of the marks whose payload is ``time.monotonic_ns()``, so that an import can map the tool's clock to ours."""
ANCHOR_NS = 10_000_000_000
"""Time between two such marks."""


class NvtxRanges:
    """Emits the NVTX ranges of one process.

    Args:
        domain: An ``nvtx`` domain.
    """

    def __init__(self, domain: Any) -> None:
        self._domain = domain
        self._attributes = {
            component: domain.get_event_attributes(message=text, payload=0) for component, text in TEXT_OF.items()
        }
        self._anchor = domain.get_event_attributes(message=CLOCK_ANCHOR, payload=0)
        self._next_anchor_ns = 0
        self._rounds: dict[int, int] = {}

    @classmethod
    def attach(cls) -> NvtxRanges | None:
        """Ranges for the tool that is attached to this process; None where there is no tool, or no package ``nvtx``.

        The package decides once a process, at its first use, whether a tool is there.
        """
        try:
            import nvtx
        except ImportError:
            return None
        domain = nvtx.get_domain(DOMAIN)
        return cls(domain) if isinstance(domain, nvtx._lib.lib.Domain) else None

    def push(self, component: str, round_number: int) -> None:
        """A component begins on this thread."""
        self._domain.push_range(self._attributes[component], payload=round_number)

    def pop(self) -> None:
        """What was pushed last on this thread ends."""
        self._domain.pop_range()

    def start_round(self, round_number: int) -> None:
        """A round has been decided. Rounds overlap under async scheduling, so theirs are no nested ranges."""
        self._rounds[round_number] = self._domain.start_range(self._attributes["round"], payload=round_number)

    def end_round(self, round_number: int) -> None:
        """The output of a round has been processed, or will never be."""
        range_id = self._rounds.pop(round_number, None)
        if range_id is not None:
            self._domain.end_range(range_id)

    def end_all_rounds(self) -> None:
        """Nobody will process the output of the rounds that are still open."""
        for round_number in list(self._rounds):
            self.end_round(round_number)

    def mark_clock(self, is_due: bool = False) -> None:
        """Emit a mark that carries ``time.monotonic_ns()``: at the start, at the end and every few seconds.

        Args:
            is_due: Emit it now, however short ago the last one was.
        """
        now_ns = time.monotonic_ns()
        if is_due or now_ns >= self._next_anchor_ns:
            self._next_anchor_ns = now_ns + ANCHOR_NS
            self._domain.mark(self._anchor, payload=time.monotonic_ns())
