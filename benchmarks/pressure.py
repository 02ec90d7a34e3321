"""Reuse under pressure: what filling rounds costs in reused tokens when the pool is small, from ample to tiny.

vLLM's real scheduler without a model, blocks of 528 tokens, 16 rows, a budget of 4,096 tokens; bursts of 60 questions
of four branches over prompts of about 5,500 or 380 tokens, the branches of a question together or the whole burst
shuffled. One request of the greatest length needs about 30 blocks. Each cell is a median over the seeds with (lowest to
highest), relative to native scheduling (`radix`) of the same stream where it says so. "Evicted while awaited" counts
recurrent states that were evicted while a request in the queue still had them in its prompt.

Run: python -m benchmarks.pressure [policy ...]
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Callable
from typing import Any

import vllm
from vllm.v1.core.kv_cache_utils import get_block_hash, get_group_id

from tests.collector.streams.observed_streams import Offer, StreamReport, StreamRun, scheduler_for

POOLS = (20_000, 400, 200, 120, 80, 60, 45, 34)
SEEDS = range(5)
NUM_QUESTIONS = 60
LONGEST = 8000
OUTPUT_TOKENS = 4
POLICIES = tuple(
    f"{policy}{marks}"
    for marks in ("", "+precise")
    for policy in ("radix", "radixflow-immediate", "radixflow-immediate+keep")
)
REFERENCE = "radix"


def burst(seed: int, shuffled: bool) -> list[Offer]:
    """60 questions of four branches, all at once."""
    rng, offers = random.Random(seed), []
    for question in range(NUM_QUESTIONS):
        length = rng.gauss(5500, 1200) if rng.random() < 0.5 else rng.gauss(380, 120)
        stem = [rng.randrange(5, 500) for _ in range(min(LONGEST, max(90, int(length))))]
        for branch in range(4):
            own = [rng.randrange(5, 500) for _ in range(12)]
            offers.append(Offer(f"{question}-{branch}", (*stem, *own), max_tokens=OUTPUT_TOKENS))
    if shuffled:
        rng.shuffle(offers)
    return offers


class AwaitedEvictions:
    """Counts recurrent states evicted from a pool while a waiting request has them in its prompt."""

    def __init__(self, scheduler: Any) -> None:
        self.count = 0
        self._scheduler = scheduler
        managers = scheduler.kv_cache_manager.coordinator.single_type_managers
        self._state_groups = {managers[position].kv_cache_group_id for position in scheduler.state_positions()}
        pool = scheduler.kv_cache_manager.block_pool
        self._native: Callable[[Any], bool] = pool._maybe_evict_cached_block
        pool._maybe_evict_cached_block = self._evict

    def _evict(self, block: Any) -> bool:
        key = block.block_hash
        if key is not None and get_group_id(key) in self._state_groups:
            awaited = get_block_hash(key)
            self.count += any(awaited in request.block_hashes for request in self._scheduler.waiting_requests())
        return self._native(block)


def run(policy: str, num_blocks: int, offers: list[Offer]) -> tuple[StreamReport, int]:
    """One stream in one pool, and its states evicted while awaited."""
    scheduler = scheduler_for(
        policy, block_size=528, max_num_seqs=16, max_num_batched_tokens=4096, num_blocks=num_blocks, max_model_len=8200
    )
    evictions = AwaitedEvictions(scheduler)
    return StreamRun(scheduler, offers).finish(), evictions.count


def spread(values: list[float], form: str) -> str:
    """Median and range."""
    middle, low, high = (format(value, form) for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} ({low} to {high})"


def table(policies: list[str], shuffled: bool) -> None:
    """Print one table: a block of rows a pool, a row a policy."""
    columns = ("reused / native", "scheduled / native", "rounds / native", "evicted while awaited", "preemptions")
    print(f"{'blocks':>7s} {'policy':32s}" + "".join(f"{column:>28s}" for column in columns))
    streams = [burst(seed, shuffled) for seed in SEEDS]
    for num_blocks in POOLS:
        native = [run(REFERENCE, num_blocks, offers)[0] for offers in streams]
        for policy in policies:
            runs = [run(policy, num_blocks, offers) for offers in streams]
            pairs = [(report, reference) for (report, _), reference in zip(runs, native, strict=True)]
            cells = [
                spread([mine.total(name) / max(1, theirs.total(name)) for mine, theirs in pairs], ".3f")
                for name in ("reused", "scheduled")
            ]
            cells.append(spread([mine.num_rounds / theirs.num_rounds for mine, theirs in pairs], ".3f"))
            cells.append(spread([evicted for _, evicted in runs], ".0f"))
            cells.append(spread([report.num_preemptions for report, _ in runs], ".0f"))
            print(f"{num_blocks:7d} {policy:32s}" + "".join(f"{cell:>28s}" for cell in cells), flush=True)


def main(policies: list[str]) -> None:
    """Print both tables."""
    print(f"vLLM {vllm.__version__}, {len(SEEDS)} seeds, {NUM_QUESTIONS} questions of four")
    for shuffled in (False, True):
        print(f"\n{'whole burst shuffled' if shuffled else 'branches of a question together'}")
        table(policies, shuffled)


if __name__ == "__main__":
    main(sys.argv[1:] or list(POLICIES))
