"""Observing changes nothing: whole streams under vLLM's own class and under ours take the very same decisions."""

import os
import random
from typing import Any

import pytest
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.policies.schedulers import FollowsPolicy, RadixFlowAsyncScheduler, RadixFlowScheduler
from tests.scheduler_harness.driving import output_digest
from tests.scheduler_harness.worlds import SchedulerWorld, WorldShape

NUM_STREAMS = int(os.environ.get("RADIXFLOW_NUM_STREAMS", "25"))
ROUNDS_A_STREAM = 40


class LooksTwice(RadixFlowScheduler):
    """Control arm: observing touches a free block, which changes the order in which blocks are handed out."""

    def visit(self, request: Any, is_schedulable: bool) -> bool:
        queue = self.kv_cache_manager.block_pool.free_block_queue
        if queue.num_free_blocks > 1:
            queue.append(queue.popleft())
        return super().visit(request, is_schedulable)


def decisions(cls: type[Scheduler], seed: int, **shape: Any) -> list[Any]:
    """Everything that schedule() said in each round of a random stream; equal seeds give equal traffic."""
    rng = random.Random(seed)
    world = SchedulerWorld(WorldShape.draw(rng, **shape), rng, cls, {"radixflow": {"policy": "radix"}})
    native_schedule, said = world.scheduler.schedule, []

    def schedule() -> Any:
        output = native_schedule()
        said.append(output_digest(output))
        return output

    world.scheduler.schedule = schedule
    for _ in world.states(ROUNDS_A_STREAM):
        pass
    return said


@pytest.mark.parametrize("asynchronous", [False, True])
def test_radix_takes_the_decisions_of_the_native_class(asynchronous: bool) -> None:
    native, observed = (AsyncScheduler, RadixFlowAsyncScheduler) if asynchronous else (Scheduler, RadixFlowScheduler)
    assert issubclass(observed, FollowsPolicy)
    for seed in range(NUM_STREAMS):
        assert decisions(native, seed, async_scheduling=asynchronous) == decisions(
            observed, seed, async_scheduling=asynchronous
        )


def test_an_observer_that_touches_the_pool_is_caught() -> None:
    assert any(decisions(Scheduler, seed) != decisions(LooksTwice, seed) for seed in range(6))
