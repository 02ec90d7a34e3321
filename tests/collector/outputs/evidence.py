"""Counts what a stream exercises, by looking at vLLM's own methods: it works for vLLM's own scheduler class, too."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

from vllm.v1.core.block_pool import BlockPool
from vllm.v1.core.kv_cache_coordinator import KVCacheCoordinator
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.vllm_adapters.scan import Refusal, ScanListener


@dataclasses.dataclass
class Evidence:
    """What happened while the engine served streams."""

    rounds: int = 0
    """Steps with scheduled work."""
    rows: int = 0
    native_refusals: int = 0
    """Times that the native state check refused a request and ended the scan."""
    skipped_blocked: int = 0
    """Visits to BLOCKED requests that a rule skipped."""
    held: int = 0
    """Visits to held requests."""
    other: int = 0
    """Visits that the align rule skipped."""
    preemptions: int = 0
    evictions: int = 0
    """Cached blocks that lost their content to another request."""
    resumed: int = 0
    """New requests that were scheduled from a cached state."""
    admitted_early: int = 0
    """Demands for blocks, one a state group, that would have been refused if the check had not been removed."""

    @property
    def blocked_visits(self) -> int:
        """Visits to BLOCKED requests, whatever followed from them."""
        return self.native_refusals + self.skipped_blocked


class SkipCounter(ScanListener):
    """Counts what the rules skip."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def skipped(self, request: Any, refusal: Refusal) -> None:
        field = {"blocked": "skipped_blocked", "held": "held", "other": "other"}[refusal.outcome]
        setattr(self.evidence, field, getattr(self.evidence, field) + 1)


@contextlib.contextmanager
def gathered(scheduler: Any) -> Iterator[Evidence]:
    """Evidence of what a scheduler does in a block of code."""
    evidence = Evidence()
    if hasattr(scheduler, "listener"):
        scheduler.listener = SkipCounter(evidence)
    with contextlib.ExitStack() as stack:
        for owner, name, count in _watches(evidence):
            stack.enter_context(patch.object(owner, name, _watched(getattr(owner, name), count)))
        yield evidence
    if hasattr(scheduler, "listener"):
        scheduler.listener = None


def _watched(native: Callable[..., Any], count: Callable[[Any, Any], None]) -> Callable[..., Any]:
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        returned = native(self, *args, **kwargs)
        count(self, returned)
        return returned

    return watched


def _watches(evidence: Evidence) -> list[tuple[type, str, Callable[[Any, Any], None]]]:
    def scheduled(scheduler: Any, output: Any) -> None:
        evidence.rounds += bool(output.num_scheduled_tokens)
        evidence.rows += len(output.num_scheduled_tokens)
        tokens = output.num_scheduled_tokens
        evidence.resumed += sum(
            row.num_computed_tokens > 0 for row in output.scheduled_new_reqs if tokens.get(row.req_id)
        )

    def asked(coordinator: Any, num_blocks: int) -> None:
        # A state that is being written makes the demand greater than the whole pool.
        evidence.native_refusals += num_blocks > coordinator.block_pool.num_gpu_blocks

    def preempted(scheduler: Any, nothing: Any) -> None:
        evidence.preemptions += 1

    def evicted(pool: Any, was_cached: bool) -> None:
        evidence.evictions += bool(was_cached)

    return [
        (Scheduler, "schedule", scheduled),
        (KVCacheCoordinator, "get_num_blocks_to_allocate", asked),
        (Scheduler, "_preempt_request", preempted),
        (BlockPool, "_maybe_evict_cached_block", evicted),
    ]
