"""vLLM 0.31 to 0.33: the waiting-queue scan seen through ``_handle_blocked_waiting_request``.

``schedule()`` calls that method exactly once for each waiting request that it visits, before lookup, split and
allocation. False makes native code put the request back in order and go on scanning: the one thing that a rule may
cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from radixflow.collector.vllm_adapters.scan_hooks import ScanHooks


class GateScan(ScanHooks):
    """Mixin before a vLLM Scheduler class of these versions."""

    NEEDED_METHODS = ("_handle_blocked_waiting_request",)

    def _handle_blocked_waiting_request(self, request: Any) -> bool:
        return self.visit(request, super()._handle_blocked_waiting_request(request))  # type: ignore[misc]

    def scan_ended(self) -> None:
        if not self._left_by_rules:
            return
        self.deferred_waiting.difference_update(self._left_by_rules)  # type: ignore[attr-defined]
        if not self.budget.defers_prefills:
            self.prefill_capacity_bound = True

    def waiting_requests(self) -> Iterator[Any]:
        yield from self.kv_holding_waiting  # type: ignore[attr-defined]
        yield from self.waiting  # type: ignore[attr-defined]

    def num_waiting_requests(self) -> int:
        return len(self.kv_holding_waiting) + len(self.waiting)  # type: ignore[attr-defined]
