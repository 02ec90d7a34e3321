"""Times the entry of new recurrent states into the prefix cache (``publish``), as one interval a request.

vLLM enters them when it allocates a row, before the forward pass that writes them.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _observing(native: Any) -> Any:
    class ObservedCoordinator(native):
        components_of: Any
        state_manager: Any

        def cache_blocks(self, request: Any, num_computed_tokens: int, *args: Any, **kwargs: Any) -> None:
            components = None if self.components_of is None else self.components_of.components
            if components is None or not reaches_boundary(self.state_manager, request, num_computed_tokens):
                super().cache_blocks(request, num_computed_tokens, *args, **kwargs)
                return
            components.begin("publish")
            try:
                super().cache_blocks(request, num_computed_tokens, *args, **kwargs)
            finally:
                components.end()

    return ObservedCoordinator


def reaches_boundary(state_manager: Any, request: Any, num_tokens: int) -> bool:
    """Whether this many tokens of a request end where a state can enter the prefix cache; most decode steps do not.

    Args:
        state_manager: One manager of recurrent state.
        request: The request of the row.
        num_tokens: Its tokens after the row.
    """
    if num_tokens % state_manager.block_pool.hash_block_size == 0:
        return True
    num_cached = state_manager.num_cached_block.get(request.request_id, 0)
    return bool(num_tokens // state_manager.block_size > num_cached)


def observe_publications(coordinator: Any, scan: Any, state_manager: Any) -> None:
    """Give a native coordinator the subclass of this module. Its class is swapped so that it stays copyable.

    Args:
        coordinator: The KV cache coordinator of a scheduler.
        scan: Whose ``components`` is told.
        state_manager: One of its managers of recurrent state.
    """
    native: Any = type(coordinator)
    coordinator.__class__ = _observing(native)
    coordinator.components_of = scan
    coordinator.state_manager = state_manager
