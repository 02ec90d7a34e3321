"""A copy-on-write shadow of the KV cache: vLLM's own lookup and allocation run on it and the real one never changes.

The counterfactual probe asks "would the native code have taken this request now?". Modelling block needs, evictions and
registrations beside vLLM would drift from it; so the very same native code runs, on copies of what it writes to:

* a block is copied when it is first handed out;
* the hash map and the free list are overlays over the real ones, read in place;
* managers and coordinator are shallow copies with their own containers. Native code only ever adds the entries of the
  request at hand, so copying the containers and the lists in them is enough.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from vllm.v1.core.block_pool import BlockPool


class ShadowHashMap:
    """Overlay over ``BlockHashToBlockMap``: entries are copied on the first change, blocks when handed out."""

    def __init__(self, real: Any, blocks: ShadowBlocks) -> None:
        self._real = real
        self._blocks = blocks
        self._changed: dict[bytes, dict[int, Any]] = {}
        self.hidden: set[bytes] = set()
        """Hashes that lookups shall not find, such as states that are not published yet."""

    def get_one_block(self, key: bytes) -> Any | None:
        if key in self.hidden:
            return None
        if key in self._changed:
            return next(iter(self._changed[key].values()), None)
        block = self._real.get_one_block(key)
        return None if block is None else self._blocks.copy_of(block)

    def contain(self, key: bytes, block_id: int) -> bool:
        if key in self._changed:
            return block_id in self._changed[key]
        return bool(self._real.contain(key, block_id))

    def insert(self, key: bytes, block: Any) -> None:
        self._entry(key)[block.block_id] = block

    def pop(self, key: bytes, block_id: int) -> Any | None:
        return self._entry(key).pop(block_id, None)

    def _entry(self, key: bytes) -> dict[int, Any]:
        if key not in self._changed:
            held = self._real._cache.get(key)
            found = () if held is None else held.values() if isinstance(held, dict) else (held,)
            self._changed[key] = {block.block_id: self._blocks.copy_of(block) for block in found}
        return self._changed[key]


class ShadowBlocks:
    """The copies of blocks made so far: each real block is copied once, and the copies belong to the shadow pool."""

    def __init__(self, pool: BlockPool) -> None:
        self._pool = pool
        self._copies: dict[int, Any] = {}

    def copy_of(self, block: Any) -> Any:
        found = self._copies.get(block.block_id)
        if found is None:
            found = self._copies[block.block_id] = copy.copy(block)
            if hasattr(found, "pool"):
                found.pool = self._pool  # vLLM frees a block into the pool that it names
        return found

    def copied_hit(self, hit: Any) -> Any:
        """The blocks of a real prefix-cache hit, as a native lookup on the shadow would have handed them out."""
        if not any(hit.blocks):
            return hit
        return type(hit)(tuple([self.copy_of(block) for block in group] for group in hit.blocks))


class ShadowFreeQueue:
    """Overlay over ``FreeKVCacheBlockQueue``: walks the real list in eviction order and remembers what was taken."""

    def __init__(self, real: Any, blocks: ShadowBlocks) -> None:
        self._blocks = blocks
        self._next = real.fake_free_list_head.next_free_block
        self._removed: set[int] = set()
        self._appended: list[Any] = []
        self._prepended: list[Any] = []
        self.num_free_blocks: int = real.num_free_blocks

    def popleft_n(self, count: int) -> list[Any]:
        assert self.num_free_blocks >= count
        return [self.popleft() for _ in range(count)]

    def popleft(self) -> Any:
        self.num_free_blocks -= 1
        if self._prepended:
            return self._prepended.pop(0)
        while self._next is not None and self._next.next_free_block is not None:  # the fake tail has no next block
            block, self._next = self._next, self._next.next_free_block
            if block.block_id not in self._removed:
                self._removed.add(block.block_id)
                return self._blocks.copy_of(block)
        return self._appended.pop(0)

    def remove(self, block: Any) -> None:
        self.num_free_blocks -= 1
        for freed in (self._prepended, self._appended):
            if block in freed:
                freed.remove(block)
                return
        self._removed.add(block.block_id)

    def append_n(self, blocks: Iterable[Any]) -> None:
        added = list(blocks)
        self._appended.extend(added)
        self.num_free_blocks += len(added)

    def append(self, block: Any) -> None:
        self.append_n([block])

    def prepend_n(self, blocks: Iterable[Any]) -> None:
        added = list(blocks)
        self._prepended[:0] = added
        self.num_free_blocks += len(added)


def shadow_of(kv_cache_manager: Any) -> Any:
    """Make a shadow of a KVCacheManager: vLLM's calls for *waiting* requests on it leave the real one unchanged.

    Requests passed to it should be copies too (``copy.copy``): native code writes to some of their fields.
    """
    pool = copy.copy(kv_cache_manager.block_pool)
    blocks = ShadowBlocks(pool)
    _divert(pool, kv_cache_manager.block_pool, blocks)
    coordinator = copy.copy(kv_cache_manager.coordinator)
    coordinator.block_pool = pool
    coordinator.components_of = None  # nobody is told of what is only imagined
    coordinator.single_type_managers = tuple(
        _shadow_manager(manager, pool) for manager in kv_cache_manager.coordinator.single_type_managers
    )
    shadow = _copy_with_own_containers(kv_cache_manager)
    shadow.__dict__.update(coordinator=coordinator, block_pool=pool, log_stats=False, enable_kv_cache_events=False)
    shadow.scan = None
    shadow.copied_blocks = blocks.copied_hit
    return shadow


def _divert(pool: BlockPool, real: BlockPool, blocks: ShadowBlocks) -> None:
    """Make a copied pool write to overlays."""
    pool.free_block_queue = ShadowFreeQueue(real.free_block_queue, blocks)
    pool.cached_block_hash_to_block = ShadowHashMap(real.cached_block_hash_to_block, blocks)
    secondary = getattr(real, "cached_block_hashes_by_block", None)
    if secondary is not None:
        pool.cached_block_hashes_by_block = {block: set(hashes) for block, hashes in secondary.items()}
    pool.null_block = blocks.copy_of(real.null_block)
    pool.enable_kv_cache_events = False
    pool.metrics_collector = None
    if hasattr(real, "_reuse_watchers"):
        pool._reuse_watchers = {}


def _shadow_manager(real: Any, pool: BlockPool) -> Any:
    manager = _copy_with_own_containers(real)
    manager.block_pool = pool
    manager._null_block = pool.null_block
    return manager


def _copy_with_own_containers(real: Any) -> Any:
    twin = copy.copy(real)
    for name, value in vars(real).items():
        if isinstance(value, dict | set | list):
            setattr(twin, name, _own_container(value))
    return twin


def _own_container(value: Any) -> Any:
    """A copy down to the lists in a dict: native code leaves an empty block list of a refused request and grows it."""
    if isinstance(value, dict) and not {list, set}.isdisjoint(map(type, value.values())):
        return OwnLists(value)
    return value.copy()


class OwnLists(defaultdict[Any, Any]):
    """A dict of lists (or sets), each copied when it is first handed out: a probe touches few of the many.

    Args:
        real: The dict of the real object; its lists are never changed through this one.
    """

    def __init__(self, real: dict[Any, Any]) -> None:
        super().__init__(getattr(real, "default_factory", None), real)
        self._shared = set(real)

    def _own(self, key: Any) -> None:
        if key in self._shared:
            self._shared.discard(key)
            value = super().__getitem__(key)
            if isinstance(value, list | set):
                super().__setitem__(key, value.copy())

    def __getitem__(self, key: Any) -> Any:
        self._own(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._shared.discard(key)
        super().__setitem__(key, value)

    def get(self, key: Any, default: Any = None) -> Any:
        self._own(key)
        return super().get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        self._own(key)
        return super().setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        self._own(key)
        return super().pop(key, *default)

    def values(self) -> Any:
        self._own_all()
        return super().values()

    def items(self) -> Any:
        self._own_all()
        return super().items()

    def _own_all(self) -> None:
        for key in list(self._shared):
            self._own(key)
