"""Random streams whose requests share prefixes of all lengths, so that many wait for one recurrent state."""

import dataclasses
import itertools
import random

LONGEST_PROMPT = 1700
"""Tokens; with the outputs it stays below the engine's longest sequence."""
FIRST_TOKEN, END_TOKEN = 5, 500
OUTPUT_TOKENS = (1, 2, 5, 12, 24)
STEPS_TO_NEXT_GROUP = (0, 0, 0, 1, 1, 3, 3, 8, 8)
IDLE_STEPS = 90
LIGHT_EVERY = 6
"""Every so many groups there is a pause that lets the engine fall idle, and then one short request: flex holds it."""


@dataclasses.dataclass(frozen=True)
class StreamRequest:
    """One request of a stream."""

    name: str
    arrival_step: int
    """The engine's step before which it is handed in."""
    prompt: list[int]
    num_outputs: int


def random_stream(seed: int, block_size: int, num_requests: int = 40) -> list[StreamRequest]:
    """Requests in order of arrival; equal arguments give equal streams.

    Requests come in groups of one to six branches over one of three documents. A document is cut anywhere, at a block
    boundary, or one token beside it; the branches differ in their last few tokens, or not at all.
    """
    rng = random.Random(seed)
    documents = [_tokens(rng, LONGEST_PROMPT) for _ in range(3)]
    requests: list[StreamRequest] = []
    step = 0
    for group in itertools.count(1):
        if len(requests) == num_requests:
            break
        is_light = group % LIGHT_EVERY == 0
        step += IDLE_STEPS if is_light else rng.choice(STEPS_TO_NEXT_GROUP)
        stem = rng.choice(documents)[: _shared_length(rng, block_size) % (block_size if is_light else LONGEST_PROMPT)]
        stem += _tokens(rng, rng.choice([0, 1, rng.randrange(block_size)]))
        for _ in range(min(1 if is_light else rng.randint(1, 6), num_requests - len(requests))):
            prompt = stem[: LONGEST_PROMPT - 20] + _tokens(rng, rng.choice([0, 1, 12, 12]))
            requests.append(
                StreamRequest(f"r{len(requests):03d}", step, prompt or _tokens(rng, 1), rng.choice(OUTPUT_TOKENS))
            )
    return requests


def _shared_length(rng: random.Random, block_size: int) -> int:
    anywhere = rng.randrange(LONGEST_PROMPT)
    on_boundary = anywhere // block_size * block_size + rng.choice([0, 0, 1, -1])
    return max(0, rng.choice([anywhere, on_boundary]))


def _tokens(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(FIRST_TOKEN, END_TOKEN) for _ in range(count)]
