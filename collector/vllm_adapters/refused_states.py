"""Recognises, without a costly lookup, a request that waits for the same state as one refused just before.

A native lookup walks the whole prompt. Equal block hashes mean equal prefixes; so a request that carries the hash of
the awaited state matches at least as far, and it matches no further unless its next block is cached by the attention
group, whose hits have no gaps. One comparison and one look into the cache decide; in doubt the native lookup does.

That holds for lookups of whole blocks only, and where nothing but the hashes decides: with a speculative draft model a
hit of attention loses its last block, a KV connector answers for each request anew. There the short cut is off.
"""

from __future__ import annotations

from typing import Any

from vllm.v1.core.kv_cache_utils import get_block_hash
from vllm.v1.core.single_type_kv_cache_manager import FullAttentionManager, MambaManager

from radixflow.collector.vllm_adapters.scan import StateRefusal


class RefusedStates:
    """The refusals met in the current step, by the block at which the awaited state ends.

    Args:
        scheduler: The scheduler, before the classes of its managers are swapped.
    """

    def __init__(self, scheduler: Any) -> None:
        self._pool = scheduler.kv_cache_manager.block_pool
        self._group_ids = _attention_group(scheduler)
        self._by_index: dict[int, dict[bytes, StateRefusal]] = {}

    def clear(self) -> None:
        """A new step begins."""
        self._by_index.clear()

    def add(self, request: Any, refusal: StateRefusal) -> None:
        """Remember the refusal of a native lookup."""
        if not self._group_ids or refusal.matched_tokens % self._pool.hash_block_size:
            return
        index = refusal.matched_tokens // self._pool.hash_block_size - 1
        block_hash = get_block_hash(refusal.awaited_hash)
        if index < len(request.block_hashes) and request.block_hashes[index] == block_hash:
            self._by_index.setdefault(index, {})[block_hash] = refusal

    def find(self, request: Any) -> StateRefusal | None:
        """The refusal that a native lookup would surely give, None when only the lookup can tell."""
        hashes = request.block_hashes
        for index, refusals in self._by_index.items():
            refusal = refusals.get(hashes[index]) if index < len(hashes) else None
            if refusal is not None and self._ends_here(request, hashes, index, refusal.matched_tokens):
                return refusal
        return None

    def _ends_here(self, request: Any, hashes: Any, index: int, matched_tokens: int) -> bool:
        if request.skip_reading_prefix_cache or matched_tokens > request.num_tokens - 1:
            return False
        if getattr(request, "resumable", False):  # the lookup may renew the hashes of a session
            return False
        return index + 1 == len(hashes) or not self._pool.get_cached_block(hashes[index + 1], self._group_ids)


def _attention_group(scheduler: Any) -> list[int]:
    """The attention group whose next block bounds a hit; none where a hash does not decide a lookup alone."""
    pool, config = scheduler.kv_cache_manager.block_pool, scheduler.vllm_config
    managers = scheduler.kv_cache_manager.coordinator.single_type_managers
    if config.speculative_config is not None or scheduler.connector is not None:
        return []
    if config.parallel_config.decode_context_parallel_size > 1:
        return []
    if any(type(manager) not in (FullAttentionManager, MambaManager) for manager in managers):
        return []
    if any(m.block_size != pool.hash_block_size or m.block_pool is not pool for m in managers):
        return []
    return [m.kv_cache_group_id for m in managers if type(m) is FullAttentionManager][:1]
