"""What a refused allocation says of the request just visited, and what fits behind it."""

from __future__ import annotations

from typing import Any

from radixflow.collector.instrumentation.notes.step_notes import ProbeResult, Visit
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.stops.probe import CounterfactualProbe
from radixflow.collector.instrumentation.stops.refused_allocation import refused_allocation_reason

LOOKED_BEHIND = frozenset({"blocked"})
"""Outcomes of a visit that ends a scan behind which the probe looks."""

_DEMANDS = ("num_new_computed_tokens", "reserved_blocks", "has_scheduled_reqs", "full_sequence_must_fit")
"""Arguments of allocate_slots() that decide on a refusal."""


class RefusalExplainer:
    """Asks the scheduler, at the very moment of a refusal, what it will no longer know later in schedule().

    Args:
        scan: The scheduler, an adapter's scan.
        settings: Whether, and how far, the probe looks behind a stop.

    Attributes:
        epoch: To be advanced whenever something happens that may change an answer. While it stands, the same refusal
            is explained once: an engine that is stuck asks the same question at every step.
    """

    def __init__(self, scan: Any, settings: RecorderSettings) -> None:
        self._scan = scan
        self._has_probe = settings.probe == "full"
        self._probe_cap = settings.probe_cap
        self.epoch = 0
        self._question: tuple[Any, ...] | None = None
        self._answer = ""

    def explain(self, visit: Visit, request: Any, num_tokens: int, arguments: dict[str, Any], has_reader: bool) -> None:
        """Decide the outcome of a visit whose allocation was refused.

        Args:
            visit: The visit; its outcome is set, and its reason or the state that it is BLOCKED for.
            request: The request.
            num_tokens: Tokens that were asked for.
            arguments: Keyword arguments of the allocate_slots() call.
            has_reader: Whether the reason of an ``other`` outcome is worth its time: somebody will read it.
        """
        if visit.hit_blocks is not None and visit.matched_tokens is not None:
            visit.state = self._scan.refusal_of_hit(visit.hit_blocks, visit.matched_tokens)
        if visit.state is not None:
            visit.outcome = "blocked"
            return
        visit.outcome = "other"
        if has_reader:
            demands = tuple(arguments.get(name) for name in _DEMANDS)
            question = (self.epoch, request.request_id, num_tokens, self._num_free_blocks(), *demands)
            if question != self._question:
                self._question, self._answer = question, self._ask(request, num_tokens, arguments)
            visit.reason = self._answer

    def _num_free_blocks(self) -> int:
        return int(self._scan.kv_cache_manager.block_pool.get_num_free_blocks())

    def _ask(self, request: Any, num_tokens: int, arguments: dict[str, Any]) -> str:
        shadow = self._scan.shadow_kv_cache()
        blocks = shadow.copied_blocks(arguments["new_computed_blocks"])  # a grant would touch them
        copied = arguments | {"new_computed_blocks": blocks}
        return refused_allocation_reason(shadow, request, num_tokens, copied)

    def look_behind(self, stop: Visit, arguments: dict[str, Any]) -> ProbeResult | None:
        """Probe the queue behind a visit that ended the scan.

        Args:
            stop: The visit, explained; it is told the longest match whose states are all published.
            arguments: Keyword arguments of the allocate_slots() call that was refused.

        Returns:
            What was found, or None where nobody looks behind a stop of this kind.
        """
        if not self._has_probe or stop.outcome not in LOOKED_BEHIND:
            return None
        probe = CounterfactualProbe(self._scan, arguments, self._probe_cap)
        stop.ready_tokens = probe.ready_tokens_of(stop.request)
        return probe.run(stop.position + 1)
