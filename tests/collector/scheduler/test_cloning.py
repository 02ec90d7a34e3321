"""A copied scheduler decides exactly as its original, and nothing that happens to one reaches the other."""

import random
import threading
import time
from typing import Any

import pytest
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from tests.scheduler_harness import (
    SchedulerWorld,
    WorldShape,
    build_scheduler,
    clone,
    drain,
    make_request,
    output_digest,
    run_round,
    schedule_round,
    state_difference,
    state_digest,
    update_round,
)


@pytest.mark.parametrize("async_scheduling", [False, True])
def test_a_copy_decides_as_the_original_and_leaves_it_alone(async_scheduling: bool) -> None:
    num_states = 0
    for seed in range(20):
        rng = random.Random(seed)
        shape = WorldShape.draw(rng, async_scheduling=async_scheduling)
        world = SchedulerWorld(shape, rng, AsyncScheduler if async_scheduling else Scheduler)
        for scheduler in world.states(10):
            before = state_digest(scheduler)
            first, second = world.clone(), world.clone()
            assert state_difference(scheduler, first) == []
            taken = schedule_round(first)
            for answered in (*world.in_flight, taken):
                update_round(first, answered)
            for _ in range(8):
                run_round(first)
            assert state_digest(scheduler) == before, "what the copy did reached the original"
            assert output_digest(second.schedule()) == output_digest(taken[0])
            third = clone(second)
            assert state_difference(second, third) == [], "a copy in the middle of a step"
            num_states += 1
            reference = output_digest(taken[0])
            world.advance()  # the original decides last, and decides the same
            assert output_digest(world.last_output) == reference
    assert num_states == 20 * 10


def _world_with_work() -> Scheduler:
    scheduler = build_scheduler(block_size=16, max_num_seqs=4, max_num_batched_tokens=64, num_blocks=100)
    for i in range(8):
        scheduler.add_request(make_request(scheduler, str(i), list(range(5, 100)), max_tokens=4))
    run_round(scheduler)
    return scheduler


def test_the_digest_sees_each_change() -> None:
    def touch_block(scheduler: Scheduler) -> None:
        scheduler.kv_cache_manager.block_pool.blocks[7].ref_cnt += 1

    def swap_free_blocks(scheduler: Scheduler) -> None:
        queue = scheduler.kv_cache_manager.block_pool.free_block_queue
        queue.append(queue.popleft())

    def mark_state(scheduler: Scheduler) -> None:
        scheduler.kv_cache_manager.coordinator.single_type_managers[1].cached_blocks_this_step.add(b"new")

    def move_request(scheduler: Scheduler) -> None:
        scheduler.waiting.rotate(1)

    def move_token(scheduler: Scheduler) -> None:
        scheduler.requests["0"]._all_token_ids[3] += 1

    scheduler = _world_with_work()
    for change in (touch_block, swap_free_blocks, mark_state, move_request, move_token):
        copied = clone(scheduler)
        assert state_digest(copied) == state_digest(scheduler)
        change(copied)
        assert state_digest(copied) != state_digest(scheduler), change.__name__
        assert state_difference(copied, scheduler), change.__name__


def test_a_wrapped_method_of_the_copy_belongs_to_the_copy() -> None:
    scheduler: Any = _world_with_work()
    manager = scheduler.kv_cache_manager
    native, calls = manager.allocate_slots, []

    def counted(request: Any, *args: Any, **keywords: Any) -> Any:
        calls.append(request.request_id)
        return native(request, *args, **keywords)

    manager.allocate_slots = counted
    before = state_digest(scheduler)
    copied = clone(scheduler)
    drain(copied)
    assert calls == [] and state_digest(scheduler) == before
    drain(scheduler)
    assert set(calls) == set("01234567")


def test_what_cannot_be_copied_is_refused() -> None:
    scheduler: Any = _world_with_work()
    scheduler.lock = threading.Lock()
    with pytest.raises(TypeError, match="lock"):
        clone(scheduler)


def test_a_big_pool_is_copied_without_recursion() -> None:
    scheduler = build_scheduler(block_size=16, max_num_seqs=4, max_num_batched_tokens=64, num_blocks=50_000)
    scheduler.add_request(make_request(scheduler, "0", list(range(5, 100))))
    start = time.process_time()
    copied = clone(scheduler)
    assert time.process_time() - start < 20
    assert output_digest(copied.schedule()) == output_digest(scheduler.schedule())
