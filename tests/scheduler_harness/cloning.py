"""Copies a scheduler with all its mutable state, so that two policies can start from the very same state.

Not `copy.deepcopy`: the free blocks form a linked list (a recursion as deep as the pool), token lists are long, and
functions that wrap a method of one scheduler would go on pointing into the original. Here blocks are copied in a loop,
flat containers at once, and a wrapping function is copied together with the variables that it closes over.
"""

import functools
import types
import weakref
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Any

from vllm.v1.core.kv_cache_utils import KVCacheBlock
from vllm.v1.core.sched.scheduler import Scheduler

ATOMIC_TYPES: frozenset[type] = frozenset(
    {type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented), property}
)
SHARED_MODULES = (
    "vllm.config",
    "vllm.sampling_params",
    "vllm.pooling_params",
    "vllm.v1.kv_cache_interface",
    "vllm.v1.structured_output",
    "vllm.distributed",
    "vllm.multimodal",
    "vllm.lora",
    "torch",
    "logging",
    "random",
    "threading",
)
"""Objects of these modules are configuration, or never changed by a scheduling decision: both copies use the same."""
OWN_MODULES = ("vllm.distributed.kv_transfer",)
"""What is not shared nevertheless: a KV connector keeps what it answered about each request."""
_MISSING = object()


@functools.cache
def _is_atomic_type(cls: type) -> bool:
    return cls in ATOMIC_TYPES or issubclass(cls, Enum | type | types.ModuleType | types.BuiltinFunctionType)


def is_atomic(value: Any) -> bool:
    """Whether a value can be shared because nothing can change it."""
    return _is_atomic_type(type(value))


@functools.cache
def _is_shared_type(cls: type) -> bool:
    return _is_of(cls, SHARED_MODULES) and not _is_of(cls, OWN_MODULES)


def _is_of(cls: type, modules: tuple[str, ...]) -> bool:
    return any(cls.__module__ == name or cls.__module__.startswith(name + ".") for name in modules)


def is_shared(value: Any) -> bool:
    """Whether a value is configuration that both copies use."""
    return _is_shared_type(type(value))


@functools.cache
def _slots(cls: type) -> tuple[str, ...]:
    slots = [base.__dict__.get("__slots__", ()) for base in cls.__mro__]
    names = [name for entry in slots for name in ((entry,) if isinstance(entry, str) else entry)]
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def attributes(value: Any) -> dict[str, Any]:
    """Returns the attributes that an object really has, in `__dict__` and in slots. Not to be changed."""
    in_dict: dict[str, Any] = getattr(value, "__dict__", {})
    slots = _slots(type(value))
    return in_dict | {name: getattr(value, name) for name in slots if hasattr(value, name)} if slots else in_dict


class _Copier:
    def __init__(self) -> None:
        self._copies: dict[int, Any] = {}
        self._kept_alive: list[Any] = []  # an id is unique only as long as its object lives

    def _remember(self, value: Any, copied: Any) -> Any:
        self._copies[id(value)] = copied
        self._kept_alive.append(value)
        return copied

    def copy(self, value: Any) -> Any:
        cls = type(value)
        if _is_atomic_type(cls):
            return value
        known = self._copies.get(id(value), _MISSING)
        return _copy_method(cls)(self, value) if known is _MISSING else known

    def _share(self, value: Any) -> Any:
        return value

    def _copy_linked_blocks(self, start: KVCacheBlock) -> KVCacheBlock:
        """Copies a block and every block reachable over the free list, in a loop instead of a recursion."""
        pending, copied = [start], []
        while pending:
            block = pending.pop()
            if block is None or id(block) in self._copies:
                continue
            twin = self._remember(block, KVCacheBlock.__new__(type(block)))
            copied.append((block, twin))
            pending += (block.prev_free_block, block.next_free_block)
        for block, twin in copied:
            for name in _slots(type(block)):
                setattr(twin, name, self.copy(getattr(block, name)))
        return self._copies[id(start)]

    def _copy_dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        copied = self._remember(value, type(value).__new__(type(value)))
        if hasattr(value, "default_factory"):
            copied.default_factory = self.copy(value.default_factory)
        for key, item in value.items():
            copied[self.copy(key)] = self.copy(item)
        self._copy_attributes(value, copied, skip=("default_factory",))
        return copied

    def _copy_container(self, value: Any) -> Any:
        copied = type(value).__new__(type(value))
        if isinstance(value, deque) and value.maxlen is not None:
            copied = type(value)(maxlen=value.maxlen)
        self._remember(value, copied)
        add_all = set.update if isinstance(value, set) else deque.extend if isinstance(value, deque) else list.extend
        add_all(copied, value if ATOMIC_TYPES.issuperset(map(type, value)) else [self.copy(item) for item in value])
        self._copy_attributes(value, copied)
        return copied

    def _copy_immutable(self, value: Any) -> Any:
        if ATOMIC_TYPES.issuperset(map(type, value)):
            return value
        items = [self.copy(item) for item in value]
        known = self._copies.get(id(value), _MISSING)  # a cycle through one of the items made it meanwhile
        if known is not _MISSING:
            return known
        made = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        return self._remember(value, made)

    def _copy_function(self, value: types.FunctionType) -> types.FunctionType:
        if value.__closure__ is None and not value.__defaults__ and not value.__kwdefaults__:
            return value
        cells = tuple(types.CellType() for _ in value.__closure__ or ())
        copied = types.FunctionType(value.__code__, value.__globals__, value.__name__, closure=cells or None)
        self._remember(value, copied)
        for cell, original in zip(cells, value.__closure__ or (), strict=True):
            cell.cell_contents = self.copy(original.cell_contents)
        copied.__defaults__ = self.copy(value.__defaults__)
        copied.__kwdefaults__ = self.copy(value.__kwdefaults__)
        copied.__dict__.update(self.copy(value.__dict__))
        copied.__qualname__ = value.__qualname__
        return copied

    def _copy_method(self, value: types.MethodType) -> types.MethodType:
        return self._remember(value, types.MethodType(value.__func__, self.copy(value.__self__)))

    def _copy_weak_reference(self, value: Any) -> Any:
        target = value()
        return self._remember(value, value if target is None else weakref.ref(self.copy(target)))

    def _copy_object(self, value: Any) -> Any:
        reduced = type(value).__reduce_ex__ is object.__reduce_ex__ and type(value).__reduce__ is object.__reduce__
        if not reduced:
            raise TypeError(f"do not know how to copy a {type(value).__module__}.{type(value).__qualname__}")
        copied = self._remember(value, type(value).__new__(type(value)))
        self._copy_attributes(value, copied)
        return copied

    def _copy_attributes(self, value: Any, copied: Any, skip: tuple[str, ...] = ()) -> None:
        for name, item in attributes(value).items():
            if name not in skip:
                object.__setattr__(copied, name, self.copy(item))


_COPY_METHODS: tuple[tuple[type | types.UnionType, Callable[[_Copier, Any], Any]], ...] = (
    (KVCacheBlock, _Copier._copy_linked_blocks),
    (dict, _Copier._copy_dict),
    (list | deque | set, _Copier._copy_container),
    (tuple | frozenset, _Copier._copy_immutable),
    (types.FunctionType, _Copier._copy_function),
    (types.MethodType, _Copier._copy_method),
    (weakref.ref, _Copier._copy_weak_reference),
)


@functools.cache
def _copy_method(cls: type) -> Callable[[_Copier, Any], Any]:
    if _is_shared_type(cls):
        return _Copier._share
    return next((method for kind, method in _COPY_METHODS if issubclass(cls, kind)), _Copier._copy_object)


def clone(scheduler: Scheduler) -> Scheduler:
    """Returns a scheduler with the same state and nothing mutable in common with the original but its configuration.

    Fails with TypeError on an attribute of a type that cannot be copied safely (a lock, a file, a thread).
    """
    return _Copier().copy(scheduler)  # type: ignore[no-any-return]
