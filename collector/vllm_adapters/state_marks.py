"""Finds out which request marked a recurrent state as being written in this step, and whether it really writes it.

vLLM keeps a set of hashes only (``MambaManager.cached_blocks_this_step``). The managers of the running scheduler get a
subclass that looks at the set before and after each call; native decisions are untouched. The precise subclass (the
``+precise`` modifier) is the one that does change them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from vllm.v1.core.single_type_kv_cache_manager import MambaManager

from radixflow.collector.vllm_adapters.scan import StateMark


@cache
def observing(native: Any) -> Any:
    """A subclass of a state manager that attributes each mark to the request whose scheduling set it."""

    class ObservedManager(native):
        marks: dict[bytes, StateMark]

        def cache_blocks(self, request: Any, num_tokens: int, *args: Any, **kwargs: Any) -> None:
            blocks = self.req_to_blocks.get(request.request_id, ())
            index = (num_tokens - 1) // self.block_size  # of the block in which the prefix ends
            held = blocks[index].block_hash if 0 <= index < len(blocks) else None
            super().cache_blocks(request, num_tokens, *args, **kwargs)
            if len(self.cached_blocks_this_step) != len(self.marks):
                self.attribute_marks(request.request_id, held)

        def attribute_marks(self, request_id: str, held_hash: bytes | None = None) -> None:
            """Attribute the marks set since the last call to a request.

            Args:
                request_id: Request that is being scheduled.
                held_hash: Hash that its tail block carried before, so that marking it again is told apart.
            """
            current = self.cached_blocks_this_step
            if len(current) == len(self.marks):
                return
            for block_hash in _by_depth(self, request_id, current - self.marks.keys()):
                self.marks[block_hash] = StateMark(request_id, already_published=block_hash == held_hash)

        def new_step_starts(self) -> None:
            super().new_step_starts()
            self.marks.clear()

    return ObservedManager


@cache
def marking_precisely(native: Any) -> Any:
    """A subclass of a state manager that marks a whole-block state only in the step that really writes it.

    A sub-block tail keeps its native mark: its owner overwrites it in a later step.
    """

    class PreciseManager(native):
        def _cache_partial_tail_block(self, request: Any, num_tokens: int, *args: Any, **kwargs: Any) -> bytes | None:
            held = None
            has_checkpoint = request.request_id in getattr(self, "_checkpoints", ())  # from 0.30 on
            if num_tokens % self.block_size == 0 and not has_checkpoint:
                held = _tail_hash(self, request.request_id, num_tokens)
            returned: bytes | None = super()._cache_partial_tail_block(request, num_tokens, *args, **kwargs)
            is_published = returned is not None and returned == held and returned not in self.cached_blocks_this_step
            return None if is_published else returned

    return PreciseManager


def _tail_hash(manager: Any, request_id: str, num_tokens: int) -> bytes | None:
    """Hash carried by the block in which a prefix of ``num_tokens`` tokens ends, None if there is none."""
    blocks = manager.req_to_blocks.get(request_id, ())
    index = -(-num_tokens // manager.block_size) - 1
    return blocks[index].block_hash if 0 <= index < len(blocks) and not blocks[index].is_null else None


def _by_depth(manager: Any, request_id: str, hashes: set[bytes]) -> list[bytes]:
    """New marks of a request, the deepest prefix last."""
    blocks = manager.req_to_blocks.get(request_id, ()) if len(hashes) > 1 else ()
    in_table = [block.block_hash for block in blocks if block.block_hash in hashes]
    return list(hashes.difference(in_table)) + in_table


def state_managers(coordinator: Any) -> dict[int, Any]:
    """The managers of recurrent state, by their position in a prefix-cache hit; empty for full attention."""
    return {
        index: manager
        for index, manager in enumerate(coordinator.single_type_managers)
        if isinstance(manager, MambaManager)
    }


def observe_marks(manager: Any, precise: bool) -> None:
    """Give a native manager the subclasses of this module. Its class is swapped so that it stays copyable."""
    native: Any = type(manager)
    manager.__class__ = observing(marking_precisely(native) if precise else native)
    manager.marks = {}
