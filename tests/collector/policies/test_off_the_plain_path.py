"""State-ready traversal with all that vLLM's scheduler knows, compared with its own scan request by request."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from radixflow.collector.vllm_adapters.budget import RoundBudget
from tests.collector.policies.native_reference import native_reference, taken, without_traversal
from tests.collector.policies.same_state import NUM_STATES, random_feature_states
from tests.scheduler_harness.cloning import clone

FLOW = "radixflow-immediate"


def differences(num_states: int, seed: int, policy: str = FLOW, **fixed: Any) -> Counter[str]:
    """How often a state-ready policy selects or skips otherwise than the reference, in random states with features."""
    found: Counter[str] = Counter()
    for world in random_feature_states(num_states, seed=seed, policy=policy, **fixed):
        scheduler, throttles = world.scheduler, world.throttles_next
        twin, native_twin = clone(scheduler), clone(scheduler)
        flow, refusals = taken(twin, twin.rules, throttles)
        native, _ = taken(native_twin, without_traversal(native_twin), throttles)
        expected, blocked = native_reference(scheduler, throttles)
        found["states"] += 1
        found["blocked"] += len(blocked)
        found["more rows"] += len(flow) - len(native)
        found["not a superset in order"] += list(flow.items())[: len(native)] != list(native.items())
        found["selected otherwise"] += list(flow.items()) != list(expected.items())
        found["skipped otherwise"] += refusals.skipped_as_blocked != blocked
        found["ready left behind"] += refusals.stopped_at is not None
        found["beyond a limit"] += is_beyond_a_limit(twin, flow)
    return found


def is_beyond_a_limit(scheduler: Any, scheduled: dict[str, int]) -> bool:
    """Whether a step took more tokens, rows or adapters than the engine may."""
    most_rows = getattr(scheduler, "max_num_active_reqs", scheduler.max_num_running_reqs)
    rows = [scheduler.requests[name] for name in scheduled]
    adapters = {request.lora_request.lora_int_id for request in rows if request.lora_request is not None}
    too_many_adapters = scheduler.lora_config is not None and len(adapters) > scheduler.lora_config.max_loras
    too_many_rows = len(scheduler.running) > most_rows
    return sum(scheduled.values()) > scheduler.max_num_scheduled_tokens or too_many_rows or too_many_adapters


FAULTS = ("not a superset in order", "selected otherwise", "skipped otherwise", "ready left behind", "beyond a limit")


@pytest.mark.parametrize(
    "fixed",
    [
        {},
        {"throttled_share": 0.7, "speculation": None},
        {"encoder_budget": 32, "max_loras": 0, "speculation": None},
        {"max_loras": 1, "speculation": None},
        {"speculation": "mtp-3"},
        {"session_share": 0.4},
        {"is_pooling": True, "speculation": None},
        {"chunked_prefill": False, "speculation": None, "long_prefill_token_threshold": 0},
    ],
    ids=str,
)
def test_state_ready_is_the_native_scan_without_its_blocked_requests(fixed: dict[str, Any]) -> None:
    found = differences(NUM_STATES // 2 if fixed else NUM_STATES, seed=50_000, ample=bool(fixed), **fixed)
    assert not any(found[fault] for fault in FAULTS), found
    assert found["blocked"] > 0, "nobody was BLOCKED: nothing was tested"


@pytest.mark.parametrize(
    "policy",
    ["radixflow", "radixflow+frag", "state-ready+frag", "state-ready+timer:5ms", "state-ready+timer-ordered:5ms"],
)
def test_so_it_is_behind_an_admission_rule_and_a_guard(policy: str) -> None:
    found = differences(NUM_STATES // 2, seed=60_000, policy=policy, ample=True)
    assert not any(found[fault] for fault in FAULTS), found
    assert found["blocked"] > 0, "nobody was BLOCKED: nothing was tested"


def test_a_rule_that_stands_aside_on_throttled_steps_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: state-ready that becomes prefix-stop whenever the engine core asks for a throttled step."""
    monkeypatch.setattr(RoundBudget, "_defers_prefills", lambda budget, throttled: throttled)
    found = differences(NUM_STATES // 2, seed=21_000, ample=True, throttled_share=0.7, speculation=None)
    assert found["selected otherwise"] and found["ready left behind"]
