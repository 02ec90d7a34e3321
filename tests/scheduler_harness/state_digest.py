"""A comparable form of everything mutable in a scheduler: two schedulers with equal digests are in the same state."""

import hashlib
import types
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any

from vllm.v1.core.kv_cache_utils import FreeKVCacheBlockQueue, KVCacheBlock
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import Request

from tests.scheduler_harness.cloning import ATOMIC_TYPES, attributes, is_atomic, is_shared


def _facts(scheduler: Scheduler) -> Iterator[tuple[str, str]]:
    """Yields (path, value) for every leaf of the state, each object once and in an order free of addresses."""
    seen: dict[int, str] = {}
    kept_alive = []  # an id is unique only as long as its object lives
    pending: deque[tuple[str, Any]] = deque([("scheduler", scheduler)])
    while pending:
        path, value = pending.popleft()
        if is_atomic(value):
            yield path, repr(value)
        elif id(value) in seen:
            yield path, f"same as {seen[id(value)]}"
        elif is_shared(value):
            yield path, f"shared {type(value).__qualname__}"
        else:
            seen[id(value)] = path
            kept_alive.append(value)
            yield path, type(value).__qualname__
            if type(value) in (list, tuple, deque) and ATOMIC_TYPES.issuperset(map(type, value)):
                yield f"{path}[:]", repr(value)  # token lists: one leaf instead of thousands
                continue
            pending.extend((f"{path}{step}", item) for step, item in _children(value))


def _children(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, FreeKVCacheBlockQueue):
        return _free_queue(value)
    if isinstance(value, dict):
        return [(f"[{index}:{_key(key)}]", item) for index, (key, item) in enumerate(value.items())]
    if isinstance(value, list | tuple | deque):
        return [(f"[{index}]", item) for index, item in enumerate(value)] + _attributes(value)
    if isinstance(value, set | frozenset):
        return [(f"{{{_key(item)}}}", item) for item in sorted(value, key=_key)]
    if isinstance(value, types.MethodType):
        return [(".__self__", value.__self__)]
    if isinstance(value, types.FunctionType):
        return [(f".closure{i}", cell.cell_contents) for i, cell in enumerate(value.__closure__ or ())]
    if isinstance(value, weakref.ref):
        return [(".target", value())]
    return _attributes(value)


def _attributes(value: Any) -> list[tuple[str, Any]]:
    links = ("prev_free_block", "next_free_block") if isinstance(value, KVCacheBlock) else ()
    return [(f".{name}", item) for name, item in sorted(attributes(value).items()) if name not in links]


def _free_queue(queue: FreeKVCacheBlockQueue) -> list[tuple[str, Any]]:
    forward, block = [], queue.fake_free_list_head.next_free_block
    while block is not None and block is not queue.fake_free_list_tail:
        forward.append(block.block_id)
        block = block.next_free_block
    backward, block = [], queue.fake_free_list_tail.prev_free_block
    while block is not None and block is not queue.fake_free_list_head:
        backward.append(block.block_id)
        block = block.prev_free_block
    return [(".forward", forward), (".backward", backward), (".num_free_blocks", queue.num_free_blocks)]


def _key(value: Any) -> str:
    if isinstance(value, Request):
        return f"request {value.request_id}"
    if isinstance(value, KVCacheBlock):
        return f"block {value.block_id}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_key, value))})"
    return repr(value) if is_atomic(value) else type(value).__qualname__


def state_digest(scheduler: Scheduler) -> str:
    """Returns a fingerprint (hexadecimal) of the whole mutable state, independent of addresses."""
    digest = hashlib.blake2b(digest_size=16)
    for path, value in _facts(scheduler):
        digest.update(f"{path}={value}\n".encode())
    return digest.hexdigest()


def state_difference(first: Scheduler, second: Scheduler) -> list[str]:
    """Returns sentences that name the leaves in which two schedulers differ; empty for the same state."""
    left, right = dict(_facts(first)), dict(_facts(second))
    return [
        f"{path}: {left.get(path, 'absent')} and {right.get(path, 'absent')}"
        for path in [*left, *(path for path in right if path not in left)]
        if left.get(path) != right.get(path)
    ]
