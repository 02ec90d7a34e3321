"""What is left of a round's tokens, rows and encoder work at each point of the scan.

``schedule()`` keeps its budgets in local variables; every scheduled request passes through ``allocate_slots``, so they
can be followed from there. A step that preempts gives tokens back, but vLLM does not scan the waiting queue then.
"""

from __future__ import annotations

from typing import Any

import vllm

from radixflow.collector.vllm_adapters.versions import version_pair

VERSION = version_pair(vllm.__version__)
LORAS_OF_ALL_RUNNING = VERSION >= (0, 33)
"""From 0.33 on an adapter slot is taken by every running request, before by those with a row in this step."""


class RoundBudget:
    """Tokens, rows and encoder work left in the current step of a scheduler.

    Attributes:
        defers_prefills: Whether vLLM ends this step's scan at the first request that has more than one token to compute
            (data-parallel balancing, and from 0.33 on a local prefill interval).
        tokens_left: Tokens that one more row may take at most.
        encoder_left: Encoder embeddings that may still be computed.
        has_rows: Whether a running request has a row in this step.
        has_prefill_rows: Whether one of them is still in its prompt.
        surely_splits: Whether a budget of one block is all that a request without encoder inputs needs to be scheduled.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        speculative = scheduler.vllm_config.speculative_config
        self._draft_slots: int = speculative.max_num_new_slots_for_drafting if speculative is not None else 0
        self._tokens_left = self._input_left = self.tokens_left = 0
        self.long_prefill_threshold = 0
        self._loras: set[int] = set()
        self._encoder_asked: tuple[Any, int] | None = None
        self.encoder_left = 0
        self.defers_prefills = self.has_rows = self.has_prefill_rows = self.surely_splits = False

    def start_step(self, throttled: bool) -> None:
        """Start a step with full budgets; ``throttled`` is what the engine core asked of ``schedule()``."""
        scheduler = self._scheduler
        self.defers_prefills = self._defers_prefills(throttled)
        self._tokens_left = scheduler.max_num_scheduled_tokens
        self._input_left = scheduler.scheduler_config.max_num_batched_tokens
        self.encoder_left = scheduler.max_num_encoder_input_tokens
        self._encoder_asked = None
        self._loras.clear()
        self.has_rows = self.has_prefill_rows = False
        self.long_prefill_threshold = self._effective_long_prefill_threshold()
        self.surely_splits = self._surely_splits()
        self._settle()

    def spend(self, request: Any, num_tokens: int, from_waiting: bool) -> None:
        """Count a scheduled row of ``num_tokens`` tokens."""
        self._tokens_left -= num_tokens
        self._input_left -= num_tokens + self._draft_slots
        if not from_waiting:
            self.has_rows = True
            self.has_prefill_rows |= bool(request.is_prefill_chunk)
        if request.lora_request is not None:
            self._loras.add(request.lora_request.lora_int_id)
        if self._encoder_asked is not None and self._encoder_asked[0] is request:
            self.encoder_left = self._encoder_asked[1]
        self._settle()

    def asked_encoder(self, request: Any, left: int) -> None:
        """Native code will have this many embeddings left if it takes the request, of which it has just asked."""
        self._encoder_asked = (request, left)

    def loras(self) -> set[int]:
        """Adapters that the batch uses so far."""
        if not LORAS_OF_ALL_RUNNING:
            return self._loras
        return {r.lora_request.lora_int_id for r in self._scheduler.running if r.lora_request is not None}

    def _settle(self) -> None:
        """Say what one more row may take; it is asked at every visit and changes only with a row."""
        self.tokens_left = max(0, min(self._tokens_left, self._input_left - self._draft_slots))

    @property
    def rows_left(self) -> int:
        """Rows that may still be added, after the running requests."""
        scheduler = self._scheduler
        taken = len(scheduler.running) + getattr(scheduler, "num_waiting_for_streaming_input", 0)
        return int(getattr(scheduler, "max_num_active_reqs", scheduler.max_num_running_reqs)) - taken

    def demand(self, request: Any, matched_tokens: int, tokens_left: int | None = None) -> tuple[int, str | None]:
        """Tokens that native code would schedule for a waiting request, or 0 and the reason why it would stop there.

        Args:
            request: Waiting request, with ``shared_prefix_boundary`` set from the same lookup.
            matched_tokens: Length of its prefix-cache hit.
            tokens_left: Budget to assume; what is left now unless given.
        """
        left = self.tokens_left if tokens_left is None else tokens_left
        return self._scheduler.native_checks.demand(request, matched_tokens, left)

    def _defers_prefills(self, throttled: bool) -> bool:
        scheduler = self._scheduler
        if scheduler.prefill_capacity_bound or all(request.is_prefill_chunk for request in scheduler.running):
            return False
        interval = getattr(scheduler, "local_prefill_interval", 1)
        if interval > 1 and scheduler.num_executed_steps + 1 - scheduler.last_prefill_step < interval:
            return True
        return throttled

    def _surely_splits(self) -> bool:
        scheduler = self._scheduler
        return (
            not self.defers_prefills
            and self.long_prefill_threshold == 0
            and scheduler.scheduler_config.enable_chunked_prefill
            and scheduler.vllm_config.speculative_config is None
            and scheduler.connector is None
            and not getattr(scheduler, "mamba_partial_cache_hit", False)
        )

    def _effective_long_prefill_threshold(self) -> int:
        """vLLM lets a lone request use the whole budget, and may raise the threshold to a fair share."""
        scheduler = self._scheduler
        threshold = int(scheduler.scheduler_config.long_prefill_token_threshold)
        if threshold <= 0:
            return 0
        if not hasattr(scheduler, "adaptive_long_prefill_threshold"):
            return threshold  # before 0.31 it applied to a lone request, too
        num_eligible = sum(scheduler.get_request_counts())
        if num_eligible <= 1:
            return 0
        if scheduler.adaptive_long_prefill_threshold:
            threshold = max(threshold, self._input_left // num_eligible)
        return threshold
