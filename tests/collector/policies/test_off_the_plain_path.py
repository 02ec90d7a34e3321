"""State-ready traversal with all that vLLM's scheduler knows, compared with its own scan request by request."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from radixflow.collector.policies.catalog import parse_policy
from radixflow.collector.policies.rules import rules_of
from radixflow.collector.vllm_adapters.budget import RoundBudget
from tests.collector.policies.native_reference import native_reference, taken
from tests.collector.policies.same_state import NUM_STATES, random_feature_states
from tests.scheduler_harness.cloning import clone

FLOW = "radixflow-immediate"


def differences(num_states: int, seed: int, **fixed: Any) -> Counter[str]:
    """How often state-ready selects or skips otherwise than the reference, in random states with features."""
    found: Counter[str] = Counter()
    for world in random_feature_states(num_states, seed=seed, policy=FLOW, **fixed):
        scheduler, throttles = world.scheduler, world.throttles_next
        flow, refusals = taken(clone(scheduler), rules_of(parse_policy(FLOW)), throttles)
        native, _ = taken(clone(scheduler), (), throttles)
        expected, blocked = native_reference(scheduler, throttles)
        found["states"] += 1
        found["blocked"] += len(blocked)
        found["more rows"] += len(flow) - len(native)
        found["not a superset in order"] += list(flow.items())[: len(native)] != list(native.items())
        found["selected otherwise"] += list(flow.items()) != list(expected.items())
        found["skipped otherwise"] += refusals.skipped_as_blocked != blocked
        found["ready left behind"] += refusals.stopped_at is not None
        found["beyond a limit"] += sum(flow.values()) > scheduler.max_num_scheduled_tokens
    return found


FAULTS = ("not a superset in order", "selected otherwise", "skipped otherwise", "ready left behind", "beyond a limit")


@pytest.mark.parametrize(
    "fixed",
    [
        {},
        {"throttled_share": 0.7, "speculation": None},
        {"encoder_budget": 32, "max_loras": 1, "speculation": None},
        {"speculation": "mtp-3"},
        {"session_share": 0.4},
        {"is_pooling": True, "speculation": None},
        {"chunked_prefill": False, "speculation": None, "long_prefill_token_threshold": 0},
    ],
    ids=str,
)
def test_state_ready_is_the_native_scan_without_its_blocked_requests(fixed: dict[str, Any]) -> None:
    found = differences(NUM_STATES, seed=50_000, **fixed)
    assert not any(found[fault] for fault in FAULTS), found
    assert found["blocked"] > 0, "nobody was BLOCKED: nothing was tested"


def test_a_rule_that_stands_aside_on_throttled_steps_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: state-ready that becomes prefix-stop whenever the engine core asks for a throttled step."""
    monkeypatch.setattr(RoundBudget, "_defers_prefills", lambda budget, throttled: throttled)
    found = differences(NUM_STATES, seed=21_000, throttled_share=0.7, speculation=None)
    assert found["selected otherwise"] and found["ready left behind"]
