"""What vLLM checks of a waiting request before its recurrent state, so that those outcomes stay vLLM's own.

From the visit to the allocation, where the state is checked, ``schedule()`` goes through conditions of its own: some
put the request back and scan on, some end the scan. They are asked here in the same order and change nothing, so that a
rule can stand aside wherever vLLM would not have come as far as the state. What differs by release is a constant.
"""

from __future__ import annotations

import copy
from typing import Any

from radixflow.collector.vllm_adapters.budget import VERSION, RoundBudget

ENCODER_BEFORE_SPLIT = VERSION < (0, 28)
PADS_THE_FIRST_ROW = VERSION >= (0, 30)
"""From 0.30 on a decode that arrives with its prompt computed is padded for speculation even without running rows."""
PADS_OR_STOPS = VERSION < (0, 29)
"""Before 0.29 the scan also ended where the padding would pass the greatest length."""
ENCODER_MODELS_SKIP_CHUNKING = VERSION >= (0, 32)


class NativeChecks:
    """vLLM's checks between the visit of a waiting request and the check of its state.

    Args:
        scheduler: The scheduler, in the middle of its scan.
        budget: What is left of its step.
    """

    def __init__(self, scheduler: Any, budget: RoundBudget) -> None:
        self._scheduler = scheduler
        self._budget = budget

    def skips(self, request: Any) -> bool:
        """Whether vLLM puts the request back before it looks it up, and scans on."""
        if getattr(request, "num_stale_output_tokens", 0) and not request.drop_stale_output:
            return True
        scheduler, adapter = self._scheduler, request.lora_request
        if not scheduler.lora_config or adapter is None:
            return False
        used = self._budget.loras()
        return len(used) == scheduler.lora_config.max_loras and adapter.lora_int_id not in used

    def reaches_state_check(self, request: Any, matched_tokens: int, external_tokens: int = 0) -> bool:
        """Whether vLLM would come as far as the state of a request that it does not load from elsewhere first.

        Args:
            request: Waiting request that was looked up, with ``shared_prefix_boundary`` set from the lookup.
            matched_tokens: Length of its local hit.
            external_tokens: Tokens behind it that a KV connector loads within the step.
        """
        if self._encoder_transfer_is_pending(request, request.num_computed_tokens + matched_tokens + external_tokens):
            return False
        left = self._budget.tokens_left
        if self._budget.surely_splits and left >= self._scheduler.block_size and not request.has_encoder_inputs:
            return True  # a hit ends on a block, so where one whole block fits, the aligned split passes
        return self.demand(request, matched_tokens, left, external_tokens, asks_encoder=True)[0] > 0

    def demand(
        self,
        request: Any,
        matched_tokens: int,
        tokens_left: int,
        external_tokens: int = 0,
        asks_encoder: bool = False,
    ) -> tuple[int, str | None]:
        """Tokens that vLLM would schedule for a waiting request, or 0 and the reason why not.

        Encoder inputs are left out unless ``asks_encoder``: they are looked up in a copy of the encoder cache.
        """
        computed = request.num_computed_tokens + matched_tokens + external_tokens
        wanted = request.num_tokens - computed
        if self._budget.defers_prefills and wanted > 1:
            return 0, "prefill_throttle"
        wanted = self._padded(computed, wanted, tokens_left)
        if wanted == 0:
            return 0, "spec_padding"
        if 0 < self._budget.long_prefill_threshold < wanted:
            wanted = self._budget.long_prefill_threshold
        if wanted > tokens_left and not self._may_be_cut():
            return 0, "no_chunked_prefill"
        wanted = min(wanted, tokens_left)
        asks_encoder = asks_encoder and request.has_encoder_inputs
        if asks_encoder and ENCODER_BEFORE_SPLIT:
            wanted = self._with_encoder_inputs(request, computed, wanted)
            if wanted == 0:
                return 0, "encoder"
        wanted = self._scheduler.native_split(request, wanted, matched_tokens, external_tokens)
        if wanted == 0:
            return 0, "aligned_split_zero"
        if asks_encoder and not ENCODER_BEFORE_SPLIT:
            wanted = self._with_encoder_inputs(request, computed, wanted)
        if wanted and hasattr(self._scheduler, "_reserve_prefill_lookahead"):
            wanted = self._scheduler._reserve_prefill_lookahead(request, computed, wanted)
            return wanted, None if wanted else "spec_padding"
        return wanted, None if wanted else "encoder"

    def _may_be_cut(self) -> bool:
        scheduler = self._scheduler
        if scheduler.scheduler_config.enable_chunked_prefill:
            return True
        return ENCODER_MODELS_SKIP_CHUNKING and bool(scheduler.is_mm_encoder_only)

    def _padded(self, computed: int, wanted: int, tokens_left: int) -> int:
        """One token padded to a row of speculative tokens where vLLM does so; 0 where it ends the scan instead."""
        scheduler, budget = self._scheduler, self._budget
        if wanted != 1 or budget.has_prefill_rows or not scheduler.num_spec_tokens:
            return wanted
        samples = scheduler.num_sampled_tokens_per_step
        if samples == 0 or scheduler.dynamic_sd_lookup is not None:
            return wanted
        if not budget.has_rows and not (PADS_THE_FIRST_ROW and computed):
            return wanted
        padded = 1 + scheduler.num_spec_tokens
        if PADS_OR_STOPS:
            return padded if padded <= tokens_left and computed + padded <= scheduler.max_model_len else 0
        if computed + padded + samples > scheduler.max_model_len:
            return wanted
        return padded if padded <= tokens_left else 0

    def _encoder_transfer_is_pending(self, request: Any, computed: int) -> bool:
        """Whether an encoder input is still on its way; asked again at each visit, as by vLLM itself."""
        connector = self._scheduler.ec_connector
        if connector is None or not request.mm_features:
            return False
        return not connector.ensure_cache_available(request, computed)

    def _with_encoder_inputs(self, request: Any, computed: int, wanted: int) -> int:
        """Tokens that the encoder's budget and cache leave of those wanted, asked of vLLM on a copy of the cache."""
        scheduler = self._scheduler
        shift = getattr(scheduler, "num_prefill_lookahead", int(scheduler.use_eagle))
        real = scheduler.encoder_cache_manager
        rejected = getattr(scheduler, "encoder_cache_mismatch_reqs", None)
        scheduler.encoder_cache_manager = _with_own_containers(real)
        if rejected is not None:
            scheduler.encoder_cache_mismatch_reqs = set(rejected)
        try:
            asked = scheduler.native_encoder_inputs(
                request, computed, wanted, self._budget.encoder_left, shift_computed_tokens=shift
            )
        finally:
            scheduler.encoder_cache_manager = real
            if rejected is not None:
                scheduler.encoder_cache_mismatch_reqs = rejected
        return int(asked[1])


def _with_own_containers(manager: Any) -> Any:
    twin = copy.copy(manager)
    for name, value in vars(manager).items():
        if isinstance(value, dict):
            # Native code adds a request to the sets of those that hold an entry.
            own = type(value)((key, item.copy() if isinstance(item, set) else item) for key, item in value.items())
            setattr(twin, name, own)
        elif isinstance(value, list | set):
            setattr(twin, name, value.copy())
    return twin
