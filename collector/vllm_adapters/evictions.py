"""Predicts which cached prefixes would be evicted if a waiting request were selected, without allocating anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vllm.v1.core.kv_cache_utils import get_block_hash

STATE_BLOCKS_A_REQUEST = 2
"""Blocks that a running request holds in each recurrent-state group: the one of its last state, and the next one."""


def hashes_at_risk(scan: Any, request: Any) -> Iterator[bytes]:
    """Hashes of the cached blocks that would be evicted if a waiting request were taken, in that order.

    An estimate: as many blocks as the whole prompts of this request and of the running ones still need, from the head
    of the free list, less the request's own hit.
    """
    own = set(request.block_hashes)
    needed = _blocks_to_come(scan, request) + _blocks_to_come_for_running(scan)
    block = scan.kv_cache_manager.block_pool.free_block_queue.fake_free_list_head.next_free_block
    while needed > 0 and block is not None and block.next_free_block is not None:  # the fake tail has no next block
        prefix = None if block.block_hash is None else get_block_hash(block.block_hash)
        if prefix not in own:
            needed -= 1
            if prefix is not None:
                yield prefix
        block = block.next_free_block


def _blocks_to_come(scan: Any, request: Any) -> int:
    sizes = _attention_block_sizes(scan)
    attention = sum(-(-request.num_tokens // size) - scan.matched_tokens(request) // size for size in sizes)
    return attention + STATE_BLOCKS_A_REQUEST * len(scan.state_positions())


def _blocks_to_come_for_running(scan: Any) -> int:
    needed = 0
    for request in scan.running:
        computed, end = request.num_computed_tokens, request.num_tokens
        needed += sum(max(0, -(-end // size) - -(-computed // size)) for size in _attention_block_sizes(scan))
        needed += len(scan.state_positions()) if computed < end else 0
    return needed


def _attention_block_sizes(scan: Any) -> list[int]:
    state_positions = scan.state_positions()
    managers = scan.kv_cache_manager.coordinator.single_type_managers
    return [manager.block_size for position, manager in enumerate(managers) if position not in state_positions]
