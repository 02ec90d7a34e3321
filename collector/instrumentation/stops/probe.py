"""The counterfactual probe: what state-ready traversal would have selected behind a stop, without changing anything.

The scan goes on, with vLLM's own code, on a copy-on-write shadow of the KV cache. Each request that it would take is
allocated in the shadow, so that those behind it meet the blocks, evictions and marks that they would have met.
"""

from __future__ import annotations

import copy
import itertools
from typing import Any

from vllm.v1.request import RequestStatus

from radixflow.collector.instrumentation.notes.step_notes import ProbeResult, Visit
from radixflow.collector.instrumentation.stops.refused_allocation import refused_allocation_reason
from radixflow.collector.vllm_adapters.scan_hooks import STATUS_REASONS


class CounterfactualProbe:
    """Finds out which requests could have run behind the one at which a scan has just stopped (BLOCKED).

    Args:
        scan: The scheduler, in the middle of its scan; the stopped request is at the head of its queue.
        arguments: Keyword arguments of the allocate_slots() call that was refused; they carry what this vLLM expects.
        cap: Most requests to look at.
    """

    def __init__(self, scan: Any, arguments: dict[str, Any], cap: int) -> None:
        self._scan = scan
        self._arguments = arguments
        self._cap = cap
        self._shadow = scan.shadow_kv_cache()
        managers = self._shadow.coordinator.single_type_managers
        self._state_managers = {index: managers[index] for index in scan.state_positions()}
        self._tokens_left: int = scan.budget.tokens_left
        self._rows_left: int = scan.budget.rows_left
        self._ready_tokens: dict[bytes, int] = {}

    def ready_tokens_of(self, request: Any) -> int:
        """Longest match of a request, the stopped one for example, whose states are all published."""
        return tokens_ready(self._shadow, request, self._state_managers)

    def run(self, first_position: int) -> ProbeResult:
        """Probe the queue behind its head; ``first_position`` is the scan position of the first one."""
        started_ns = self._scan.clock()
        visits: list[Visit] = []
        reason = self._unsupported()
        if reason is None:
            reason = "end_of_queue"
            for request in itertools.islice(self._scan.waiting_requests(), 1, None):
                stop = self._limit(len(visits))
                if stop is None:
                    visits.append(Visit(request, first_position + len(visits), witness="probe"))
                    stop = self._look_at(visits[-1])
                if stop is not None:
                    reason = stop
                    break
        return ProbeResult(visits, reason, self._scan.clock() - started_ns)

    def _unsupported(self) -> str | None:
        """Configurations whose stops the probe does not model: it then says so instead of guessing."""
        scan = self._scan
        if scan.lora_config or scan.connector is not None or scan.vllm_config.speculative_config is not None:
            return "unsupported"
        return None

    def _limit(self, num_probed: int) -> str | None:
        if self._tokens_left <= 0:
            return "token_budget"
        if self._rows_left <= 0:
            return "row_capacity"
        return "probe_cap" if num_probed >= self._cap else None

    def _look_at(self, visit: Visit) -> str | None:
        """Decide one visit as native code would; the reason why the scan would end here, or None."""
        request = copy.copy(visit.request)
        if has_its_grammar(request):
            request.status = RequestStatus.WAITING
        if request.status not in (RequestStatus.WAITING, RequestStatus.PREEMPTED):
            visit.outcome, visit.reason = "other", STATUS_REASONS.get(request.status, "not_schedulable")
            return None
        if request.num_computed_tokens or request.has_encoder_inputs:
            visit.outcome, visit.reason = "other", "unsupported"
            return "unsupported"
        blocks, matched, request.shared_prefix_boundary = self._shadow.get_computed_blocks(request)
        visit.matched_tokens = matched
        num_tokens, stop = self._scan.budget.demand(request, matched, self._tokens_left)
        if stop is not None:
            visit.outcome, visit.reason = "other", stop
            return stop
        visit.state = self._scan.refusal_of_hit(blocks.blocks, matched, self._state_managers)
        if visit.state is not None:
            visit.outcome = "blocked"
            visit.ready_tokens = self._tokens_ready(request, visit.state.awaited_hash)
            return None
        return self._allocate(visit, request, blocks, matched, num_tokens)

    def _allocate(self, visit: Visit, request: Any, blocks: Any, matched: int, num_tokens: int) -> str | None:
        arguments = self._arguments | {
            "num_new_computed_tokens": matched,
            "new_computed_blocks": blocks,
            "has_scheduled_reqs": bool(self._scan.running) or visit.position > 0,
        }
        if self._shadow.allocate_slots(request, num_tokens, **arguments) is None:
            visit.outcome = "other"
            visit.reason = refused_allocation_reason(self._shadow, request, num_tokens, arguments)
            return visit.reason
        for manager in self._state_managers.values():
            manager.attribute_marks(request.request_id)
        visit.outcome, visit.num_tokens, visit.ready_tokens = "ready", num_tokens, matched
        self._tokens_left -= num_tokens
        self._rows_left -= 1
        return None

    def _tokens_ready(self, request: Any, awaited: bytes) -> int:
        """Longest match whose states are all published. Equal awaited states mean equal prefixes, so it is kept."""
        if awaited not in self._ready_tokens:
            self._ready_tokens[awaited] = self.ready_tokens_of(request)
        return self._ready_tokens[awaited]


def has_its_grammar(request: Any) -> bool:
    """Whether a request waits for a grammar that is there: native code takes it as soon as it visits it."""
    if request.status != RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR or not request.structured_output_request:
        return False
    grammar = request.structured_output_request.grammar
    return grammar is not None and not isinstance(grammar, Exception)


def tokens_ready(shadow: Any, request: Any, shadow_state_managers: dict[int, Any]) -> int:
    """Longest prefix-cache match of a request when states marked in this step are left out."""
    hash_map = shadow.block_pool.cached_block_hash_to_block
    hash_map.hidden = set().union(*(manager.cached_blocks_this_step for manager in shadow_state_managers.values()))
    try:
        return int(shadow.get_computed_blocks(request)[1])
    finally:
        hash_map.hidden = set()
