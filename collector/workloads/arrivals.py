"""Arrival processes: when each request group of a stream is due to be sent."""

import math
import random

NANOSECONDS_PER_SECOND = 1_000_000_000


def poisson_offsets_ns(num_groups: int, rate: float, rng: random.Random) -> list[int]:
    """Offsets (ns) of groups that arrive as a Poisson process; the first one is due at 0.

    Args:
        num_groups: Number of groups.
        rate: Mean arrivals a second; 0 or infinity offers everything at once.
        rng: Source of randomness; used ``num_groups - 1`` times whatever the rate is, so that the rate
            changes nothing else of a stream.
    """
    gaps = [rng.expovariate(1.0) for _ in range(max(num_groups - 1, 0))]
    if rate == 0 or math.isinf(rate):
        return [0] * num_groups
    offsets, now = [0] if num_groups else [], 0.0
    for gap in gaps:
        now += gap / rate
        offsets.append(round(now * NANOSECONDS_PER_SECOND))
    return offsets
