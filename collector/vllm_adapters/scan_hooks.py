"""Hooks around one schedule() call that are the same in every supported vLLM; no line of vLLM's code is copied.

A version's own module adds how a visit to a waiting request is seen and refused. Everything else here only observes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import RequestStatus

from radixflow.collector.vllm_adapters.budget import RoundBudget
from radixflow.collector.vllm_adapters.hooked_kv_cache import HookedKVCacheManager
from radixflow.collector.vllm_adapters.native_checks import NativeChecks
from radixflow.collector.vllm_adapters.published_states import observe_publications
from radixflow.collector.vllm_adapters.refused_states import RefusedStates
from radixflow.collector.vllm_adapters.scan import (
    ComponentListener,
    Refusal,
    ScanListener,
    StateMark,
    StateRefusal,
    VisitRule,
)
from radixflow.collector.vllm_adapters.shadow import shadow_of
from radixflow.collector.vllm_adapters.state_marks import observe_marks, state_managers
from radixflow.collector.vllm_adapters.visit_lookup import VisitLookup, VisitLookups, can_ask, hook_connector

_native_split: Callable[..., int] = Scheduler._mamba_block_aligned_split
STATUS_REASONS = {
    RequestStatus.WAITING_FOR_REMOTE_KVS: "remote_kv",
    RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR: "grammar",
}


class ScanHooks:
    """Mixin before a vLLM Scheduler class: applies visit rules and tells a listener what happens.

    Attributes:
        rules: Rules asked in order at each visit; none for native scheduling.
        listener: Receives what happens; None when nobody records.
        components: Receives when which part of the work was done; None when nobody does.
        precise_marks: Whether states are marked only in the step that really writes them.
    """

    rules: tuple[VisitRule, ...] = ()
    listener: ScanListener | None = None
    components: ComponentListener | None = None
    precise_marks = False
    clock: Callable[[], int] = staticmethod(time.monotonic_ns)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.listener = self.components = None  # the scheduler's own, so that copies and their originals have the same
        self.step_started_ns = 0
        self.budget = RoundBudget(self)
        self.native_checks = NativeChecks(self, self.budget)
        self.lookups = VisitLookups(self)
        manager = self.kv_cache_manager  # type: ignore[attr-defined]
        self._refused_states = RefusedStates(self)
        self._left_by_rules: list[Any] = []
        self._looks_through = self.unsupported_configuration() is None
        self._asked_connector = self.connector  # type: ignore[attr-defined]
        if self._looks_through and self._asked_connector is not None:
            hook_connector(self._asked_connector, self.lookups)
        self._state_managers = state_managers(manager.coordinator)
        for state_manager in self._state_managers.values():
            observe_marks(state_manager, self.precise_marks)
        if self._state_managers:
            observe_publications(manager.coordinator, self, next(iter(self._state_managers.values())))
        manager.__class__ = HookedKVCacheManager
        manager.scan = self

    # -- what rules and listeners may ask ---------------------------------------------------------------------------

    def state_refusal(self, request: Any) -> StateRefusal | None:
        """The refusal of the native state check at this point of the scan, or None.

        None also when native code would end the scan at this request for another reason before it reaches the state
        check, so that OTHER outcomes keep native handling.
        """
        if not self._state_managers or not self._is_plain_lookup(request) or self.native_checks.skips(request):
            return None
        known = self._refused_states.find(request)
        if known is not None:
            return known if self.native_checks.reaches_state_check(request, known.matched_tokens) else None
        hit = self._hit_of(request)
        refusal = self.refusal_of_hit(hit[0].blocks, hit[1])
        if refusal is None and not self.lookups.may_change(request):
            return None
        return self._refusal_with_connector(request)

    def _refusal_with_connector(self, request: Any) -> StateRefusal | None:
        """The refusal of the blocks that are left once a KV connector was asked, where native code checks them."""
        found = self.lookups.whole(request)
        refusal = self.refusal_of_hit(found.blocks, found.matched_tokens)
        if refusal is None or not self._reaches_allocation(request, found):
            return None
        self._refused_states.add(request, refusal)
        return refusal

    def reaches_allocation(self, request: Any) -> bool:
        """Whether native code would get as far as asking for blocks for a waiting request, at this point of the scan.

        Where not, it puts the request back or ends the scan for a reason of its own, and a rule should stand aside.
        """
        if not self._is_plain_lookup(request):
            return self.native_checks.reaches_state_check(request, 0)
        return not self.native_checks.skips(request) and self._reaches_allocation(request, self.lookups.whole(request))

    def _reaches_allocation(self, request: Any, found: VisitLookup) -> bool:
        if found.external_tokens is None:
            return False
        checks = self.native_checks
        return found.loads_async or checks.reaches_state_check(request, found.matched_tokens, found.external_tokens)

    def matched_tokens(self, request: Any) -> int:
        """Length of the native hit of a waiting request in the local prefix cache."""
        return int(self._hit_of(request)[1]) if self._is_plain_lookup(request) else int(request.num_computed_tokens)

    def native_demand(self, request: Any, tokens_left: int) -> tuple[int, str | None]:
        """Tokens that native code would schedule for a waiting request with this much budget left, or 0 and why not.

        Encoder inputs are left out: what they cost a request does not depend on the budget of tokens.
        """
        if not self._is_plain_lookup(request):
            return self.native_checks.demand(request, 0, tokens_left)
        if self.native_checks.skips(request):
            return 0, "skipped"
        found = self.lookups.whole(request)
        if found.loads_async or found.external_tokens is None:
            return 0, "remote_kv"
        return self.native_checks.demand(request, found.matched_tokens, tokens_left, found.external_tokens)

    def _hit_of(self, request: Any) -> Any:
        """The native lookup of a waiting request, kept for native code, which asks for the same one next."""
        return self.lookups.local(request)

    def refusal_of_hit(self, blocks: Any, matched_tokens: int, managers: Any = None) -> StateRefusal | None:
        """Repeat vLLM's state check: a hit is refused if the longest state in it is marked as written in this step.

        Args:
            blocks: Blocks of the hit, one sequence a group.
            matched_tokens: Length of the hit.
            managers: State managers to ask, by position; those of the scheduler unless a shadow asks.
        """
        for index, manager in (self._state_managers if managers is None else managers).items():
            group = blocks[index]
            if group and group[-1].block_hash in manager.cached_blocks_this_step:
                awaited = group[-1].block_hash
                return StateRefusal(awaited, matched_tokens, manager.marks.get(awaited))
        return None

    def state_positions(self) -> tuple[int, ...]:
        """Positions of the recurrent-state groups in a prefix-cache hit; empty for full attention."""
        return tuple(self._state_managers)

    def state_marks(self) -> Iterator[tuple[bytes, StateMark]]:
        """The marks of the current step, those of one request in order of depth."""
        for manager in self._state_managers.values():
            yield from manager.marks.items()

    def deepest_state(self, hit_blocks: Any) -> bytes | None:
        """Hash of the recurrent state that a hit resumes from, None if it has none."""
        for index in self._state_managers:
            if hit_blocks is not None and hit_blocks[index]:
                block_hash: bytes | None = hit_blocks[index][-1].block_hash
                return block_hash
        return None

    def shadow_kv_cache(self) -> Any:
        """A copy-on-write shadow of the KV cache manager as it is now."""
        return shadow_of(self.kv_cache_manager)  # type: ignore[attr-defined]

    def waiting_requests(self) -> Iterator[Any]:
        """Waiting requests in the order in which a scan visits them."""
        raise NotImplementedError

    def num_waiting_requests(self) -> int:
        """Length of that queue."""
        raise NotImplementedError

    @property
    def num_idle_sessions(self) -> int:
        """Streaming sessions that wait for their next input; they stand in the queue and keep a row."""
        return int(getattr(self, "num_waiting_for_streaming_input", 0))

    def is_paused(self) -> bool:
        """Whether vLLM's pause keeps waiting requests out."""
        return self._pause_state.name != "UNPAUSED"  # type: ignore[attr-defined]

    def unsupported_configuration(self) -> str | None:
        """Name the setting of the engine with which scheduling rules do not work; None if there is no such setting.

        docs/policies-and-features.md says why.
        """
        if getattr(self, "prefix_replay_tokens", 0):
            return "sliding-window prefix replay"
        if getattr(self, "aux_output_connector", None) is not None:
            return "auxiliary outputs"
        connector = self.connector  # type: ignore[attr-defined]
        return None if connector is None else can_ask(connector)

    def _is_plain_lookup(self, request: Any) -> bool:
        """Whether native code would look the request up in a way that can be asked at the gate."""
        is_known = self._looks_through and self.connector is self._asked_connector  # type: ignore[attr-defined]
        return is_known and request.num_computed_tokens == 0

    # -- hooks of vLLM's Scheduler ----------------------------------------------------------------------------------

    def schedule(self, *args: Any, **kwargs: Any) -> Any:
        self.step_started_ns = self.clock()
        self.lookups.forget()
        self._left_by_rules.clear()
        self.budget.start_step(throttled=bool(args[0] if args else kwargs.get("throttle_prefills", False)))
        self._refused_states.clear()
        if self.listener is not None:
            self.listener.step_started()
        for rule in self.rules:
            rule.start_step(self)
        output = self.timed("selection", super().schedule, *args, **kwargs)  # type: ignore[misc]
        self.lookups.forget()
        self.scan_ended()
        if self.listener is not None:
            self.listener.step_ended(output)
        if self.components is not None:
            self.components.decided(output)
        return output

    def timed(self, component: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function and report it as an interval of a component, whose end is reported also if it raises."""
        components = self.components
        if components is None or (component == "selection" and not components.sees_selection):
            return call(*args, **kwargs)
        components.begin(component)
        try:
            return call(*args, **kwargs)
        finally:
            components.end()

    def get_grammar_bitmask(self, scheduler_output: Any) -> Any:
        if self.components is not None:  # the engine asks for it as soon as the executor has the round
            self.components.handed_over(scheduler_output)
        return super().get_grammar_bitmask(scheduler_output)  # type: ignore[misc]

    def scan_ended(self) -> None:
        """schedule() ended natively; queues may be put in order."""

    def visit(self, request: Any, is_schedulable: bool) -> bool:
        """The scan reached a waiting request: whether native code shall go on with it, or leave it in its place.

        Args:
            request: The request visited.
            is_schedulable: What native code says of its status.
        """
        self.lookups.forget()
        if self.listener is not None:
            self.listener.visited(request)
        refusal = None if is_schedulable else Refusal("other", STATUS_REASONS.get(request.status, "not_schedulable"))
        for rule in self.rules if refusal is None else ():
            refusal = rule.refuse(self, request)
            if refusal is not None:
                self._note_left(request, refusal)
                break
        if refusal is not None and self.listener is not None:
            self.listener.skipped(request, refusal)
        return refusal is None

    def _note_left(self, request: Any, refusal: Refusal) -> None:
        """Remember who is left to a later round, and not by choice of an admission rule.

        vLLM throttles prefills unless waiting requests were left for want of capacity; those are, and without a rule
        they would have counted.
        """
        if refusal.reason != "admission":
            self._left_by_rules.append(request)

    def native_lookup(self, request: Any, hit: Any) -> None:
        """Native code took a prefix-cache hit for the request just visited."""
        if self.listener is not None:
            self.listener.looked_up(request, hit[0].blocks, hit[1])

    def _mamba_block_aligned_split(self, request: Any, num_new_tokens: int, *args: Any, **kwargs: Any) -> int:
        if not isinstance(self, ScanHooks):  # vLLM's own tests call this method on stand-ins of a scheduler
            return _native_split(self, request, num_new_tokens, *args, **kwargs)
        num_tokens: int = super()._mamba_block_aligned_split(request, num_new_tokens, *args, **kwargs)  # type: ignore[misc]
        if self.listener is not None and request.status != RequestStatus.RUNNING:
            self.listener.split(request, num_tokens)
        return num_tokens

    def native_split(self, request: Any, num_new_tokens: int, matched_tokens: int, external_tokens: int = 0) -> int:
        """vLLM's aligned split for a waiting request with a hit, without telling anybody."""
        if not self.need_mamba_block_aligned_split:  # type: ignore[attr-defined]
            return num_new_tokens
        split: int = super()._mamba_block_aligned_split(  # type: ignore[misc]
            request, num_new_tokens, matched_tokens, external_tokens
        )
        return split

    def _try_schedule_encoder_inputs(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        asked = super()._try_schedule_encoder_inputs(request, *args, **kwargs)  # type: ignore[misc]
        self.budget.asked_encoder(request, asked[2])
        return asked

    def native_encoder_inputs(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """vLLM's choice of a request's encoder inputs, without counting them."""
        return super()._try_schedule_encoder_inputs(request, *args, **kwargs)  # type: ignore[misc]

    def after_allocation(self, request: Any, num_tokens: int, granted: bool, arguments: dict[str, Any]) -> None:
        """Called by the KV cache manager after each native allocate_slots()."""
        from_waiting = "new_computed_blocks" in arguments
        if granted:
            for manager in self._state_managers.values():
                if len(manager.cached_blocks_this_step) != len(manager.marks):
                    manager.attribute_marks(request.request_id)
            if not arguments.get("delay_cache_blocks"):  # a load between steps takes no row of this one
                self.budget.spend(request, num_tokens, from_waiting)
            if from_waiting:
                for rule in self.rules:
                    rule.selected(request)
        if from_waiting and self.listener is not None:
            self.listener.allocated(request, num_tokens, granted, arguments)

    def _preempt_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        if self.listener is not None:
            self.listener.preempted(request)
        return super()._preempt_request(request, *args, **kwargs)  # type: ignore[misc]

    def reset_prefix_cache(self, *args: Any, **kwargs: Any) -> bool:
        if self.listener is not None:
            self.listener.reset_started()
        succeeded = bool(super().reset_prefix_cache(*args, **kwargs))  # type: ignore[misc]
        if self.listener is not None:
            self.listener.reset_ended(succeeded)
        return succeeded

    def add_request(self, request: Any) -> None:
        goes_on = request.request_id in self.requests  # type: ignore[attr-defined]
        super().add_request(request)  # type: ignore[misc]
        if goes_on:
            return  # the next input of a streaming session, or its end: the session itself entered before
        for rule in self.rules:
            rule.registered(request, self.clock())
        if self.listener is not None:
            self.listener.registered(request)

    def update_from_output(self, scheduler_output: Any, *args: Any, **kwargs: Any) -> Any:
        if self.listener is None:
            return super().update_from_output(scheduler_output, *args, **kwargs)  # type: ignore[misc]
        components = self.components
        self.listener.update_started(scheduler_output)
        if components is not None:
            components.begin("update", scheduler_output)
        try:
            outputs = super().update_from_output(scheduler_output, *args, **kwargs)  # type: ignore[misc]
        finally:
            if components is not None:
                components.end()
        self.listener.update_ended(scheduler_output)
        return outputs

    def _free_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        for rule in self.rules:
            rule.finished(request)
        if self.listener is not None:
            self.listener.finished(request)
        return super()._free_request(request, *args, **kwargs)  # type: ignore[misc]

    def shutdown(self, *args: Any, **kwargs: Any) -> Any:
        if self.components is not None:
            self.components.closed()  # before the listener: that one closes the writer of both
        if self.listener is not None:
            self.listener.closed()
        return super().shutdown(*args, **kwargs)  # type: ignore[misc]
