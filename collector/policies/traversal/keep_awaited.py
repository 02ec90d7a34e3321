"""An experiment: fill a round, but not at the price of states that waiting requests have yet to read."""

from __future__ import annotations

from collections import Counter
from typing import Any

from radixflow.collector.policies.traversal.state_ready import StateReadyTraversal
from radixflow.collector.vllm_adapters.evictions import hashes_at_risk
from radixflow.collector.vllm_adapters.scan import Refusal


class StateReadyKeepingStates(StateReadyTraversal):
    """State-ready traversal that lets nobody in behind a BLOCKED request who would evict what others still await.

    A request behind the first BLOCKED one of a scan stays queued if taking it would push a cached prefix out of the
    pool that another waiting request shares. Prefix-stop would have taken nobody there, so the selected requests are
    still those of prefix-stop followed by some of what it left behind. A request is only ever kept out while one before
    it is BLOCKED, so it does not starve.
    """

    def __init__(self) -> None:
        self._is_behind_blocked = False
        self._num_awaiting: Counter[bytes] = Counter()
        self._waiting: dict[str, tuple[bytes, ...]] = {}

    def registered(self, request: Any, now_ns: int) -> None:
        if request.request_id not in self._waiting:
            self._waiting[request.request_id] = tuple(request.block_hashes)
            self._num_awaiting.update(self._waiting[request.request_id])

    def selected(self, request: Any) -> None:
        self._num_awaiting.subtract(hashes := self._waiting.pop(request.request_id, ()))
        for prefix in hashes:
            if self._num_awaiting[prefix] <= 0:
                del self._num_awaiting[prefix]

    def finished(self, request: Any) -> None:
        self.selected(request)

    def start_step(self, scan: Any) -> None:
        self._is_behind_blocked = False

    def refuse(self, scan: Any, request: Any) -> Refusal | None:
        refusal = super().refuse(scan, request)
        if refusal is not None:
            self._is_behind_blocked = True
        elif self._is_behind_blocked and self._evicts_awaited(scan, request) and scan.reaches_allocation(request):
            return Refusal("other", "awaited_states")
        return refusal

    def _evicts_awaited(self, scan: Any, request: Any) -> bool:
        return any(prefix in self._num_awaiting for prefix in hashes_at_risk(scan, request))
