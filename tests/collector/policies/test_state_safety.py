"""No row resumes from a recurrent state that another row of the same round writes, checked on the block tables."""

import random
from collections import Counter
from typing import Any

import pytest
from vllm.v1.core.single_type_kv_cache_manager import MambaManager

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.policies.catalog import ALIASES
from tests.collector.policies.same_state import NUM_STATES
from tests.scheduler_harness.worlds import SchedulerWorld, WorldShape

POLICIES = [name for name in ALIASES if name != "stock"] + ["radix+precise", "radixflow-immediate+precise"]
ROUNDS_A_WORLD = 40


def state_managers(scheduler: Any) -> list[Any]:
    return [m for m in scheduler.kv_cache_manager.coordinator.single_type_managers if isinstance(m, MambaManager)]


def unsafe_reads(scheduler: Any, output: Any, computed_before: dict[str, int]) -> list[str]:
    """Rows of a round that read a state block which another row of it writes.

    In align mode a row reads the block in which its computed tokens end and writes the one in which its scheduled
    tokens end. A copy on write reads its source before the round's forward pass.
    """
    unsafe = []
    copies = {copy.src_block_id for copy in getattr(output, "kv_cache_block_copies", None) or ()}
    for manager in state_managers(scheduler):
        written, read = Counter(), {}
        for name, num_tokens in output.num_scheduled_tokens.items():
            start, table = computed_before[name], manager.req_to_blocks[name]
            written[(table[(start + num_tokens - 1) // manager.block_size].block_id, name)] += 1
            if start:
                read[name] = table[(start - 1) // manager.block_size]
        writers = {block: name for block, name in written}
        for name, block in read.items():
            writer = writers.get(block.block_id, name)
            if not block.is_null and writer != name and block.block_id not in copies:
                unsafe.append(f"{name} resumes from block {block.block_id} that {writer} writes")
    return unsafe


def walk(policy: str, seed: int, num_worlds: int) -> tuple[list[str], int]:
    """Unsafe reads in random worlds under a policy, and the number of rows that resumed from a cached state."""
    unsafe: list[str] = []
    num_resumed = 0
    for world_seed in range(seed, seed + num_worlds):
        rng = random.Random(world_seed)
        shape = WorldShape.draw(rng, arrival_rate=4.0, max_num_seqs=16)
        world = SchedulerWorld(shape, rng, RadixFlowScheduler, {"radixflow": {"policy": policy}})
        for scheduler in world.states(ROUNDS_A_WORLD):
            native = scheduler.schedule

            def schedule(native: Any = native, scheduler: Any = scheduler) -> Any:
                nonlocal num_resumed
                output = native()
                tokens = output.num_scheduled_tokens
                before = {name: scheduler.requests[name].num_computed_tokens - tokens[name] for name in tokens}
                num_resumed += sum(
                    before[row.req_id] > 0 and not scheduler.requests[row.req_id].num_preemptions
                    for row in output.scheduled_new_reqs
                )
                unsafe.extend(unsafe_reads(scheduler, output, before))
                del scheduler.schedule
                return output

            scheduler.schedule = schedule
    return unsafe, num_resumed


@pytest.mark.parametrize("policy", POLICIES)
def test_no_state_is_read_in_the_round_that_writes_it(policy: str) -> None:
    unsafe, num_resumed = walk(policy, seed=7000, num_worlds=max(2, NUM_STATES // 50))
    assert unsafe == []
    assert num_resumed > 0, "nobody resumed from a cached state: nothing was tested"


def test_a_scheduler_without_the_state_check_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: nobody marks a state as being written."""
    monkeypatch.setattr(MambaManager, "cache_blocks", _cache_without_marks(MambaManager.cache_blocks))
    unsafe, _ = walk("radix", seed=7000, num_worlds=4)
    assert unsafe


def _cache_without_marks(native: Any) -> Any:
    def cache_blocks(self: Any, *args: Any, **kwargs: Any) -> None:
        native(self, *args, **kwargs)
        self.cached_blocks_this_step.clear()

    return cache_blocks
