"""The short cut past a lookup: whoever it calls BLOCKED, vLLM's own lookup calls BLOCKED, in every configuration."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.core.single_type_kv_cache_manager import FullAttentionManager

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.vllm_adapters import refused_states
from tests.collector.policies.same_state import NUM_STATES, feature_worlds
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import drain
from tests.scheduler_harness.features import SPECULATION

NUM_WORLDS = max(16, NUM_STATES // 10)
ROUNDS_A_WORLD = 40


def ask_twice(scheduler: Any, found: Counter[str]) -> None:
    """From now on, vLLM's lookup is asked after each refusal that came without one."""
    known = scheduler._refused_states.find

    def find(request: Any) -> Any:
        refusal = known(request)
        if refusal is not None:
            blocks, matched, _ = KVCacheManager.get_computed_blocks(scheduler.kv_cache_manager, request)
            looked_up = scheduler.refusal_of_hit(blocks.blocks, matched)
            found["all"] += 1
            found["false"] += looked_up is None or looked_up.awaited_hash != refusal.awaited_hash
            found["of another length"] += matched != refusal.matched_tokens
        return refusal

    scheduler._refused_states.find = find


def refusals_without_a_lookup(num_worlds: int, seed: int, **fixed: Any) -> Counter[str]:
    """How many refusals came without a lookup in random worlds, and how many of them the lookup does not confirm."""
    found: Counter[str] = Counter()
    for world in feature_worlds(num_worlds, seed, "radixflow-immediate", **fixed):
        ask_twice(world.scheduler, found)
        for _ in world.states(ROUNDS_A_WORLD):
            found["rounds"] += 1
    return found


@pytest.fixture
def whatever_the_draft_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The short cut as it was: on wherever blocks are whole, with a draft model or not."""

    def attention_group(scheduler: Any) -> list[int]:
        managers = scheduler.kv_cache_manager.coordinator.single_type_managers
        hash_block_size = scheduler.kv_cache_manager.block_pool.hash_block_size
        if {manager.block_size for manager in managers} != {hash_block_size}:
            return []
        return [m.kv_cache_group_id for m in managers if isinstance(m, FullAttentionManager)][:1]

    monkeypatch.setattr(refused_states, "_attention_group", attention_group)
    yield


@pytest.mark.parametrize("fixed", [{}, {"speculation": None, "max_loras": 0}], ids=["union", "without speculation"])
def test_every_refusal_without_a_lookup_is_one_with_it(fixed: dict[str, Any]) -> None:
    found = refusals_without_a_lookup(NUM_WORLDS, seed=11_000, **fixed)
    assert found["all"] > 10, "the short cut was hardly ever taken: nothing was tested"
    assert found["false"] == found["of another length"] == 0


def burst(seed: int, **arguments: Any) -> Counter[str]:
    """216 questions on 12 documents at once: where a scan meets the same state again and again."""
    scheduler = build_scheduler(
        RadixFlowScheduler,
        block_size=16,
        max_num_seqs=16,
        max_num_batched_tokens=2048,
        num_blocks=4000,
        max_model_len=2048,
        additional_config={"radixflow": {"policy": "radixflow-immediate"}},
        **arguments,
    )
    found: Counter[str] = Counter()
    ask_twice(scheduler, found)
    rng = random.Random(seed)
    for document in range(12):
        text = [rng.randrange(5, 500) for _ in range(192)]
        for question in range(6):
            stem = text[: 16 * rng.randrange(2, 13)] + [rng.randrange(5, 500) for _ in range(20)]
            for branch in range(3):
                name = f"{document}-{question}-{branch}"
                scheduler.add_request(make_request(scheduler, name, [*stem, branch + 5]))
    drain(scheduler)
    return found


@pytest.mark.parametrize("speculation", [None, *SPECULATION])
def test_a_burst_has_no_false_refusal(speculation: str | None) -> None:
    arguments = {} if speculation is None else {"speculative_config": SPECULATION[speculation]}
    found = burst(0, **arguments)
    assert not found["false"]
    assert bool(found["all"]) == (speculation is None), "the short cut is on without speculation, and off with it"


@pytest.mark.usefixtures("whatever_the_draft_model")
def test_a_short_cut_that_does_not_know_draft_models_is_caught() -> None:
    found = burst(0, speculative_config=SPECULATION["mtp"])
    assert found["false"] > 50
    worlds = refusals_without_a_lookup(NUM_WORLDS // 2, seed=12_000, ample=True, speculation="mtp", connector=None)
    assert worlds["false"] > 0
