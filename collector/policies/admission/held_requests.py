"""The common part of the admission rules: which requests are held, since when, and how they are released."""

from __future__ import annotations

from typing import Any

from radixflow.collector.vllm_adapters.scan import Refusal, VisitRule


class HeldRequests(VisitRule):
    """Base of the admission rules: a request is held from its registration until it is released, then never again.

    Args:
        delay_ns: Longest time that a request is held.
    """

    def __init__(self, delay_ns: int) -> None:
        self._delay_ns = delay_ns
        self._held_since: dict[str, int] = {}

    def registered(self, request: Any, now_ns: int) -> None:
        self._held_since.setdefault(request.request_id, now_ns)

    def finished(self, request: Any) -> None:
        self._held_since.pop(request.request_id, None)

    def held(self, scan: Any) -> list[Any]:
        """Held requests in the order of the scan."""
        if not self._held_since:
            return []
        return [request for request in scan.waiting_requests() if request.request_id in self._held_since]

    def is_due(self, request: Any, now_ns: int) -> bool:
        """Whether a held request has waited for its whole delay."""
        return now_ns - self._held_since[request.request_id] >= self._delay_ns

    def release(self, scan: Any, request: Any, reason: str) -> None:
        """Release a held request: it will never be held again.

        Args:
            scan: The scan, whose listener is told.
            request: A request that is held.
            reason: The rule's word for why, which is recorded.
        """
        del self._held_since[request.request_id]
        if scan.listener is not None:
            scan.listener.released(request, reason)

    def refuse(self, scan: Any, request: Any) -> Refusal | None:
        return Refusal("held", "admission") if request.request_id in self._held_since else None
