"""The harness itself: real schedulers run to the end, and walks reach the situations that policies differ in."""

import os
import random
from collections import Counter

import pytest
import vllm
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.core.single_type_kv_cache_manager import FullAttentionManager, MambaManager

from tests.scheduler_harness import SchedulerWorld, WorldShape, build_scheduler, drain, make_request


def _state_managers(scheduler: Scheduler) -> list[MambaManager]:
    return [m for m in scheduler.kv_cache_manager.coordinator.single_type_managers if isinstance(m, MambaManager)]


@pytest.mark.skipif("RADIXFLOW_VLLM_UNDER_TEST" not in os.environ, reason="no particular release is under test")
def test_the_release_under_test_is_the_one_meant() -> None:
    assert vllm.__version__ == os.environ["RADIXFLOW_VLLM_UNDER_TEST"]


def test_the_scheduler_is_a_hybrid_one() -> None:
    scheduler = build_scheduler(block_size=64, max_num_seqs=4, max_num_batched_tokens=256, num_blocks=50)
    kinds = Counter(type(manager) for manager in scheduler.kv_cache_manager.coordinator.single_type_managers)
    assert kinds == {MambaManager: 3, FullAttentionManager: 1}
    assert scheduler.kv_cache_manager.block_pool.num_gpu_blocks == 50
    assert scheduler.need_mamba_block_aligned_split


def test_a_stream_runs_to_the_end_and_reuses_prefixes() -> None:
    scheduler = build_scheduler(block_size=64, max_num_seqs=4, max_num_batched_tokens=256, num_blocks=200)
    stem = [5 + i % 400 for i in range(400)]
    for i in range(12):
        scheduler.add_request(make_request(scheduler, str(i), [*stem, 7, 8 + i], max_tokens=3))
    tokens: list[int] = []
    drain(scheduler, lambda output: tokens.append(output.total_num_scheduled_tokens))
    assert not scheduler.requests
    assert sum(tokens) == 402 + 11 * (402 - 6 * 64) + 12 * 2, "eleven should have resumed behind six blocks of 64"


def test_a_sub_block_tail_is_hit_when_hash_blocks_are_smaller() -> None:
    hits = {}
    for hash_block_size in (None, 16):
        scheduler = build_scheduler(
            block_size=64, hash_block_size=hash_block_size, max_num_seqs=4, max_num_batched_tokens=256, num_blocks=200
        )
        prompt = [5 + i % 400 for i in range(121)]
        scheduler.add_request(make_request(scheduler, "producer", prompt, max_tokens=2))
        drain(scheduler)
        probe = make_request(scheduler, "probe", [*prompt, 10])
        hits[hash_block_size] = scheduler.kv_cache_manager.get_computed_blocks(probe)[1]
    assert hits == {None: 64, 16: 112}


def test_settings_reach_the_scheduler() -> None:
    scheduler = build_scheduler(
        block_size=16, max_num_seqs=2, max_num_batched_tokens=48, policy="priority", additional_config={"key": 1}
    )
    assert scheduler.max_num_running_reqs == 2
    assert scheduler.max_num_scheduled_tokens == 48
    assert scheduler.policy.value == "priority"
    assert scheduler.vllm_config.additional_config == {"key": 1}


@pytest.mark.parametrize("async_scheduling", [False, True])
def test_walks_reach_what_policies_differ_in(async_scheduling: bool) -> None:
    seen: Counter[str] = Counter()
    for seed in range(40):
        rng = random.Random(seed)
        shape = WorldShape.draw(rng, async_scheduling=async_scheduling)
        world = SchedulerWorld(shape, rng, AsyncScheduler if async_scheduling else Scheduler)
        managers = _state_managers(world.scheduler)
        for scheduler in world.states(25):
            copied = world.clone()
            output = copied.schedule()
            rows = len(output.num_scheduled_tokens)
            marked = set().union(*(m.cached_blocks_this_step for m in _state_managers(copied)))
            seen["states"] += 1
            seen["a state is being written"] += bool(marked)
            seen["all rows used"] += rows == shape.max_num_seqs
            seen["the budget used"] += output.total_num_scheduled_tokens == shape.max_num_batched_tokens
            seen["nothing scheduled"] += rows == 0
            seen["decodes and prefills"] += rows > 1 and min(output.num_scheduled_tokens.values()) == 1
            seen["copied on write"] += bool(output.kv_cache_block_copies)
            seen["no free block"] += copied.kv_cache_manager.block_pool.get_num_free_blocks() == 0
            seen["resumed after preemption"] += any(
                scheduler.requests[r].num_preemptions for r in output.num_scheduled_tokens
            )
            waiting = [r for r in copied.requests.values() if r.num_computed_tokens == 0]
            hits = [copied.kv_cache_manager.get_computed_blocks(request)[0].blocks for request in waiting]
            seen["refused for a state being written"] += any(
                blocks[m.kv_cache_group_id] and blocks[m.kv_cache_group_id][-1].block_hash in marked
                for blocks in hits
                for m in managers
            )
    rare = {name: count for name, count in seen.items() if count < 10}
    assert not rare, f"of {seen['states']} states: {dict(seen)}"


@pytest.mark.parametrize("async_scheduling", [False, True])
def test_walks_end(async_scheduling: bool) -> None:
    for seed in range(20):
        rng = random.Random(seed)
        shape = WorldShape.draw(rng, async_scheduling=async_scheduling)
        world = SchedulerWorld(shape, rng, AsyncScheduler if async_scheduling else Scheduler)
        for _ in world.states(20):
            pass
        world.finish()
        assert not world.scheduler.requests
        pool = world.scheduler.kv_cache_manager.block_pool
        assert pool.get_num_free_blocks() == pool.num_gpu_blocks - 1, "blocks were lost"
