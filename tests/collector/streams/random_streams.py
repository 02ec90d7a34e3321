"""Random streams that do not depend on what the scheduler does, so that every policy meets the very same one."""

from __future__ import annotations

import random

from tests.collector.streams.observed_streams import MILLISECOND, Offer
from tests.scheduler_harness.worlds import MAX_OUTPUT_TOKENS, WorldShape


def draw_shape(rng: random.Random) -> dict[str, object]:
    """A random shape for ``scheduler_for``, from pools that hold little more than one request to ample ones."""
    drawn = WorldShape.draw(rng, policy="fcfs")
    return {
        "block_size": drawn.block_size,
        "hash_block_size": drawn.hash_block_size,
        "num_blocks": drawn.num_blocks,
        "max_num_seqs": drawn.max_num_seqs,
        "max_num_batched_tokens": drawn.max_num_batched_tokens,
        "max_model_len": drawn.max_prompt_tokens + MAX_OUTPUT_TOKENS + 1,
        **dict(drawn.engine_arguments),
    }


def draw_stream(rng: random.Random, shape: dict[str, object], num_requests: int, aborts: bool = True) -> list[Offer]:
    """A random stream: prompts that share prefixes of all lengths, bursts and pauses, a few aborts."""
    block, longest = int(str(shape["block_size"])), int(str(shape["max_model_len"])) - MAX_OUTPUT_TOKENS - 1
    stems: list[list[int]] = []
    for _ in range(rng.randrange(1, 5)):
        trunk = rng.choice(stems)[: rng.randrange(longest)] if stems else []
        stems.append(trunk + [rng.randrange(5, 500) for _ in range(longest - len(trunk))])
    offers, now_ns = [], 0
    for number in range(num_requests):
        now_ns += rng.choice([0, 0, 0, 1, 6, 40]) * MILLISECOND
        shared = rng.choice([rng.randrange(longest), rng.randrange(longest) // block * block])
        own = [rng.randrange(5, 500) for _ in range(rng.choice([1, 3, block // 2, block]))]
        offers.append(
            Offer(
                f"request-{number}",
                tuple((rng.choice(stems)[:shared] + own)[:longest]),
                arrival_ns=now_ns,
                max_tokens=rng.choice([1, 1, 2, 5, MAX_OUTPUT_TOKENS]),
                aborted_ns=now_ns + rng.randrange(60) * MILLISECOND if aborts and rng.random() < 0.08 else None,
            )
        )
    return offers
