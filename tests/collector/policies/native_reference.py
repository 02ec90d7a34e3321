"""What state-ready traversal has to select, found with vLLM's own scheduler alone.

The native scan ends at a BLOCKED request. From the very same state, that one request is made to wait for something else
(a grammar that is not there), so that native code puts it back and scans on; and again, until a scan ends for another
reason. Nothing of our rules or of their model of vLLM takes part but the mark that says why an allocation was refused.
"""

from __future__ import annotations

from typing import Any

from vllm.v1.request import RequestStatus

from radixflow.collector.policies.traversal.state_ready import StateReadyTraversal
from radixflow.collector.vllm_adapters.scan import ScanListener
from tests.scheduler_harness.cloning import clone


class StateRefusals(ScanListener):
    """Keeps which request an allocation was refused for its recurrent state; native code stops there."""

    def __init__(self, scan: Any) -> None:
        self._scan = scan
        self.stopped_at: Any = None
        self.skipped_as_blocked: list[str] = []

    def skipped(self, request: Any, refusal: Any) -> None:
        if refusal.outcome == "blocked":
            self.skipped_as_blocked.append(request.request_id)

    def allocated(self, request: Any, num_tokens: int, granted: bool, arguments: Any) -> None:
        if not granted and self._scan.refusal_of_hit(arguments["new_computed_blocks"].blocks, 0) is not None:
            self.stopped_at = request


def without_traversal(scheduler: Any) -> tuple[Any, ...]:
    """The rules of a scheduler but state-ready traversal: prefix-stop behind the same admission and guard."""
    return tuple(rule for rule in scheduler.rules if not isinstance(rule, StateReadyTraversal))


def taken(scheduler: Any, rules: tuple[Any, ...], throttle_prefills: bool) -> tuple[dict[str, int], StateRefusals]:
    """What a scheduler, which is spent by it, selects under rules, and the refusals that it met."""
    scheduler.rules = rules
    refusals = scheduler.listener = StateRefusals(scheduler)
    return dict(scheduler.schedule(throttle_prefills).num_scheduled_tokens), refusals


def native_reference(scheduler: Any, throttle_prefills: bool) -> tuple[dict[str, int], list[str]]:
    """The selection that a state-ready policy has to make from a state, and its BLOCKED requests in scan order."""
    blocked: list[str] = []
    while True:
        twin = clone(scheduler)
        for name in blocked:
            twin.requests[name].status = RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR
        selected, refusals = taken(twin, without_traversal(twin), throttle_prefills)
        if refusals.stopped_at is None:
            return selected, blocked
        blocked.append(refusals.stopped_at.request_id)
