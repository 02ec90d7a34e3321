"""With every feature of vLLM's scheduler, a policy serves whatever traffic vLLM's own scheduling serves."""

from __future__ import annotations

from typing import Any

import pytest

from radixflow.collector.vllm_adapters.scan import Refusal
from tests.collector.policies.same_state import NUM_STATES, feature_worlds

POLICIES = (
    "radixflow-immediate",
    "radixflow",
    "radixflow+frag",
    "radix+timer5",
    "radix+timer10-ordered",
    "radixflow+keep",
)
NUM_WORLDS = max(6, NUM_STATES // 33)
BUSY_ROUNDS = 25
MOST_ROUNDS = 1500


def rounds_to_serve(policy: str, seed: int, rules: tuple[Any, ...] = ()) -> int | None:
    """Rounds until a random world with features has served everybody who came in its first rounds; None if it does not.

    Traffic that vLLM itself cannot serve (a prompt beyond the budget with chunked prefill off) ends in None, too.
    """
    (world,) = feature_worlds(1, seed, policy)
    world.scheduler.rules += rules
    for _ in world.states(BUSY_ROUNDS):
        pass
    try:
        world.finish(MOST_ROUNDS)
    except AssertionError:
        return None
    return int(world.clock.now_ns // 1_000_000)


@pytest.fixture(scope="module")
def native() -> dict[int, int | None]:
    """Rounds of native selection by seed; one round takes a millisecond."""
    return {seed: rounds_to_serve("radix", seed) for seed in range(80_000, 80_000 + NUM_WORLDS)}


@pytest.mark.parametrize("policy", POLICIES)
def test_whatever_is_served_natively_is_served(policy: str, native: dict[int, int | None]) -> None:
    served = {seed: rounds for seed, rounds in native.items() if rounds is not None}
    assert len(served) >= NUM_WORLDS // 2, "most traffic must be such that vLLM can serve it"
    here = {seed: rounds_to_serve(policy, seed) for seed in served}
    assert None not in here.values(), here


class NeverTheFirst:
    """Control arm: a rule that keeps the first request it ever saw out of every round."""

    def __init__(self) -> None:
        self._first: str | None = None

    def registered(self, request: Any, now_ns: int) -> None:
        self._first = self._first or request.request_id

    def start_step(self, scan: Any) -> None:
        """Nothing to prepare."""

    def refuse(self, scan: Any, request: Any) -> Refusal | None:
        return Refusal("held", "admission") if request.request_id == self._first else None

    def selected(self, request: Any) -> None:
        """Nothing to remember."""

    def finished(self, request: Any) -> None:
        """Nothing to forget."""


def test_a_rule_that_starves_a_request_is_caught(native: dict[int, int | None]) -> None:
    served = [seed for seed, rounds in native.items() if rounds is not None]
    assert any(rounds_to_serve("radixflow-immediate", seed, (NeverTheFirst(),)) is None for seed in served[:4])
