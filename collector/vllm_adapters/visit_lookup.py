"""The lookup of a visited request, made once at the gate and handed on to vLLM, which makes the same one next.

The local prefix cache is asked with vLLM's own methods. A KV connector is asked exactly once a visit, with the very
argument that vLLM would use: connectors keep what they answered until the blocks are allocated, and some pay a network
round trip for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.vllm_adapters.budget import VERSION

CONNECTOR_MAY_BE_IGNORED = VERSION >= (0, 31)
"""From 0.31 on a request that may not read the prefix cache takes nothing from a connector either."""
CONNECTOR = "get_num_new_matched_tokens"
FOR_CONNECTOR = "get_computed_blocks_for_connector"
LOCAL = "get_computed_blocks"


@dataclass(slots=True)
class VisitLookup:
    """What vLLM finds for a visited request before it splits and allocates.

    Attributes:
        blocks: Blocks of the local hit that would be adopted, one sequence a group.
        matched_tokens: Length of the local hit.
        external_tokens: Tokens behind it that a KV connector has; None while it cannot tell yet.
        loads_async: Whether they are loaded between steps, so that the request computes nothing in this one.
    """

    blocks: Any
    matched_tokens: int
    external_tokens: int | None = 0
    loads_async: bool = False


class VisitLookups:
    """Answers kept for the request at the gate, by the method that vLLM asks next.

    Args:
        scheduler: The scheduler, whose KV cache manager and connector are hooked.
    """

    def __init__(self, scheduler: Any) -> None:
        self._scheduler = scheduler
        self._request: Any = None
        self._kept: dict[str, Any] = {}
        self._local: tuple[Any, int, int, bool] | None = None
        self._whole: VisitLookup | None = None
        self.is_asking = False

    def forget(self) -> None:
        """The scan goes on: another request is at the gate, or the state of the cache has changed."""
        self._request, self._local, self._whole = None, None, None
        self._kept.clear()

    def local(self, request: Any) -> tuple[Any, int, int, bool]:
        """The local hit before a connector is asked: blocks, tokens, junction, whether groups end apart.

        ``request.shared_prefix_boundary`` is set as native code would set it from the same lookup.
        """
        if self._request is not request:
            self.forget()
            self._request = request
        if self._local is None:
            _renew_hashes(self._scheduler, request)
            self._local = self._ask(_find_locally, self._scheduler, request)
            request.shared_prefix_boundary = self._local[2]
        return self._local

    def whole(self, request: Any) -> VisitLookup:
        """The whole lookup, with what a KV connector has."""
        hit = self.local(request)
        if self._scheduler.connector is None:
            return VisitLookup(hit[0].blocks, hit[1])
        if self._whole is None:
            self._whole = self._ask(_with_connector, self._scheduler, request, *hit)
        return self._whole

    def may_change(self, request: Any) -> bool:
        """Whether a connector's answer may leave other local blocks than the local lookup found."""
        hit = self.local(request)
        return self._scheduler.connector is not None and bool(hit[3] or hit[1] % self._scheduler.block_size)

    def keep(self, method: str, answer: Any) -> None:
        """Keep what a hooked method has just answered at the gate."""
        self._kept[method] = answer

    def take(self, method: str, request: Any) -> Any | None:
        """The kept answer, once, for the request at the gate: nothing has changed since."""
        return self._kept.pop(method, None) if self._request is request else None

    def _ask(self, call: Any, *arguments: Any) -> Any:
        self.is_asking = True
        try:
            return call(*arguments)
        finally:
            self.is_asking = False


def _renew_hashes(scheduler: Any, request: Any) -> None:
    """From 0.33 on native code renews the hashes of a session that starts over, before it looks it up."""
    if getattr(scheduler, "num_hash_lookahead_tokens", 0) and getattr(request, "resumable", False):
        request.block_hashes.clear()
        request.update_block_hashes()


def _find_locally(scheduler: Any, request: Any) -> tuple[Any, int, int, bool]:
    if scheduler.connector is not None:
        hit: tuple[Any, int, int, bool] = scheduler._get_local_prefix_cache_hit(request)
        return hit
    return *scheduler.kv_cache_manager.get_computed_blocks(request), False


def _with_connector(
    scheduler: Any, request: Any, blocks: Any, matched: int, junction: int, diverged: bool
) -> VisitLookup:
    """Join the local hit with the connector's as native code does: the longer of a sub-block tail and a load wins."""
    manager, tail = scheduler.kv_cache_manager, matched % scheduler.block_size
    external, loads_async = scheduler.connector.get_num_new_matched_tokens(request, matched - tail)
    if CONNECTOR_MAY_BE_IGNORED and request.skip_reading_prefix_cache:
        external, loads_async = 0, False
    if external is None:
        return VisitLookup(blocks.blocks, matched, None)
    if tail and external > tail:
        matched -= tail
        blocks = manager.truncate_computed_blocks(blocks, matched)
    elif tail:
        external, loads_async = 0, False
    if diverged and external == 0:
        blocks, matched, request.shared_prefix_boundary = manager.get_computed_blocks(request)
    return VisitLookup(blocks.blocks, matched, external, loads_async)


@cache
def _answering_once(native: Any) -> Any:
    class AskedConnector(native):
        lookups: VisitLookups

        def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int, *more: Any) -> Any:
            answer = self.lookups.take(CONNECTOR, request)
            if answer is None:
                answer = super().get_num_new_matched_tokens(request, num_computed_tokens, *more)
                if self.lookups.is_asking:
                    self.lookups.keep(CONNECTOR, answer)
            return answer

    AskedConnector.__name__, AskedConnector.__qualname__ = native.__name__, native.__qualname__
    return AskedConnector


def can_ask(connector: Any) -> str | None:
    """Why a KV connector cannot be asked at the gate, in words; None if it can."""
    if not hasattr(Scheduler, "_get_local_prefix_cache_hit"):
        return "a KV connector before vLLM 0.28, where the lookup for it cannot be asked from outside schedule()"
    if not hasattr(type(connector), CONNECTOR):
        return f"a KV connector without {CONNECTOR}"
    return None


def hook_connector(connector: Any, lookups: VisitLookups) -> None:
    """Give a native connector the subclass that hands on an answer. Its class is swapped so that it stays copyable."""
    native: Any = type(connector)
    connector.__class__ = _answering_once(native)
    connector.lookups = lookups
