"""Follows how much of a round's token budget and row capacity is left at each point of the scan.

``schedule()`` keeps its budgets in local variables; every scheduled request passes through ``allocate_slots``, so they
can be followed from there. A step that preempts gives tokens back, but vLLM does not scan the waiting queue then.
"""

from __future__ import annotations

from typing import Any


class RoundBudget:
    """Tokens and rows left in the current step of a scheduler."""

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        speculative = scheduler.vllm_config.speculative_config
        self._draft_slots: int = speculative.max_num_new_slots_for_drafting if speculative is not None else 0
        self._tokens_left = 0
        self._input_left = 0
        self._long_prefill_threshold = 0
        self._surely_splits = self._any_hit_splits = False
        self.throttled = False
        self.tokens_left = 0
        """Tokens that one more row may take at most."""

    def start_step(self, throttled: bool) -> None:
        """Start a step with full budgets; ``throttled`` is vLLM's own prefill throttle."""
        scheduler = self._scheduler
        self.throttled = throttled
        self._tokens_left = scheduler.max_num_scheduled_tokens
        self._input_left = scheduler.scheduler_config.max_num_batched_tokens
        self._long_prefill_threshold = self._effective_long_prefill_threshold()
        self._surely_splits = (
            not throttled
            and self._long_prefill_threshold == 0
            and scheduler.scheduler_config.enable_chunked_prefill
            and not getattr(scheduler, "mamba_partial_cache_hit", False)
        )
        self._settle()

    def spend(self, num_tokens: int) -> None:
        """Count a scheduled row of ``num_tokens`` tokens."""
        self._tokens_left -= num_tokens
        self._input_left -= num_tokens + self._draft_slots
        self._settle()

    def _settle(self) -> None:
        """Say what one more row may take; it is asked at every visit and changes only with a row."""
        self.tokens_left = max(0, min(self._tokens_left, self._input_left - self._draft_slots))
        # A hit ends on a block, so where one whole block fits, the aligned split passes.
        self._any_hit_splits = self._surely_splits and self.tokens_left >= self._scheduler.block_size

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
        scheduler = self._scheduler
        left = self.tokens_left if tokens_left is None else tokens_left
        wanted = request.num_tokens - matched_tokens
        if 0 < self._long_prefill_threshold < wanted:
            wanted = self._long_prefill_threshold
        if not scheduler.scheduler_config.enable_chunked_prefill and wanted > left:
            return 0, "no_chunked_prefill"
        num_tokens = scheduler.native_split(request, min(wanted, left), matched_tokens)
        return num_tokens, None if num_tokens else "aligned_split_zero"

    def reaches_state_check(self, request: Any, matched_tokens: int) -> bool:
        """Whether native code would get as far as the state check for this request."""
        if self._any_hit_splits:
            return True
        return not self.throttled and self.demand(request, matched_tokens)[0] > 0

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
