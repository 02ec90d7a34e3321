"""vLLM 0.26 to 0.30: the waiting-queue scan seen through two methods that share one question.

``schedule()`` asks ``_is_blocked_waiting_status`` of each waiting request that it visits, and only where the answer is
True ``_try_promote_blocked_waiting_request``; False from that one skips the request. While a step runs, the first
answer is therefore True for everybody, and the second method sees every visit.

Skipped requests go to ``skipped_waiting``, which the next step scans before ``waiting``; but a preempted request goes
to the front of ``waiting`` and would come behind them. What our rules skip is moved back to its place in ``waiting``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from radixflow.collector.vllm_adapters.scan_hooks import ScanHooks


class PromoteScan(ScanHooks):
    """Mixin before a vLLM Scheduler class of these versions."""

    NEEDED_METHODS = ("_is_blocked_waiting_status", "_try_promote_blocked_waiting_request")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._is_scanning = False
        self._skipped_by_rules: list[Any] = []
        super().__init__(*args, **kwargs)

    def schedule(self, *args: Any, **kwargs: Any) -> Any:
        self._is_scanning = True
        self._skipped_by_rules.clear()
        return super().schedule(*args, **kwargs)

    def scan_ended(self) -> None:
        self._is_scanning = False
        if not self._skipped_by_rules:
            return
        self.skipped_waiting.remove_requests(self._skipped_by_rules)  # type: ignore[attr-defined]
        for request in reversed(self._skipped_by_rules):
            self.waiting.prepend_request(request)  # type: ignore[attr-defined]
        if self._left_by_rules and not self.budget.defers_prefills:
            self.prefill_capacity_bound = True

    def _is_blocked_waiting_status(self, status: Any) -> bool:
        return self._is_scanning or bool(super()._is_blocked_waiting_status(status))  # type: ignore[misc]

    def _try_promote_blocked_waiting_request(self, request: Any) -> bool:
        is_blocked = super()._is_blocked_waiting_status(request.status)  # type: ignore[misc]
        promoted = not is_blocked or super()._try_promote_blocked_waiting_request(request)  # type: ignore[misc]
        goes_on = self.visit(request, promoted)
        if promoted and not goes_on:
            self._skipped_by_rules.append(request)
        return goes_on

    def waiting_requests(self) -> Iterator[Any]:
        queues = (self.skipped_waiting, self.waiting)  # type: ignore[attr-defined]
        if self.policy.name == "PRIORITY":  # type: ignore[attr-defined]
            yield from sorted(request for queue in queues for request in queue)
            return
        for queue in queues:
            yield from queue

    def num_waiting_requests(self) -> int:
        return len(self.skipped_waiting) + len(self.waiting)  # type: ignore[attr-defined]
