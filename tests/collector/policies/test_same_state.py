"""Prefix-stop, state-ready and the probe from the very same state of the real scheduler."""

from typing import Any

import pytest

from radixflow.collector.instrumentation.stops.probe import CounterfactualProbe
from radixflow.collector.vllm_adapters import shadow
from radixflow.schema.tables import ALL_TABLES
from tests.collector.policies.same_state import NUM_STATES, random_states, recorded_step, scheduled_by
from tests.scheduler_harness.cloning import clone
from tests.scheduler_harness.state_digest import state_difference

STOP_REASON = ALL_TABLES["rounds"].get_field_index("stop_reason")
MARKS = ["radix", "radix+precise"]


@pytest.mark.parametrize("policy", MARKS)
def test_state_ready_selects_a_superset_in_the_same_order_and_breaks_no_limit(policy: str) -> None:
    num_more = 0
    for scheduler in random_states(NUM_STATES, seed=1000, policy=policy):
        native = scheduled_by(scheduler, "radix")
        step = recorded_step(scheduler, "radixflow-immediate")
        assert list(step.scheduled.items())[: len(native)] == list(native.items())
        assert not step.blocked & set(step.scheduled)
        assert sum(step.scheduled.values()) <= scheduler.max_num_scheduled_tokens
        assert len(step.scheduled) <= scheduler.max_num_running_reqs
        stop_reason = step.round_row[STOP_REASON] if step.round_row else None
        assert stop_reason != "blocked", "READY work behind a BLOCKED request is never left"
        num_more += len(step.scheduled) - len(native)
    assert num_more > 0, "no state in which the policies differ: the property was not tested"


@pytest.mark.parametrize("policy", MARKS)
def test_the_probe_calls_ready_exactly_what_state_ready_selects(policy: str) -> None:
    num_ready = 0
    for scheduler in random_states(NUM_STATES, seed=2000, policy=policy):
        step = recorded_step(scheduler)
        reality = scheduled_by(scheduler, "radixflow-immediate")
        behind = {name: tokens for name, tokens in reality.items() if name not in step.scheduled}
        assert list(step.ready.items()) == list(behind.items())
        num_ready += len(behind)
    assert num_ready > 0, "the probe never found anything: the property was not tested"


def test_recording_and_probing_leave_no_trace_in_the_scheduler() -> None:
    num_probed = 0
    for scheduler in random_states(max(NUM_STATES, 200), seed=3000):
        step = recorded_step(scheduler)
        unrecorded = clone(scheduler)
        assert dict(unrecorded.schedule().num_scheduled_tokens) == step.scheduled
        step.scheduler.listener, step.scheduler.step_started_ns = None, unrecorded.step_started_ns
        assert state_difference(step.scheduler, unrecorded) == []
        num_probed += step.recorder._notes.probe is not None
    assert num_probed > 0


def test_the_slot_ledger_closes_in_every_state() -> None:
    for scheduler in random_states(NUM_STATES // 2, seed=4000):
        for policy in ("radix", "radixflow-immediate"):
            row = recorded_step(scheduler, policy).round_row
            if row is not None:
                capacity, classes = row[3], row[4:11]
                assert sum(classes) == capacity and min(classes) >= 0


class BlindProbe(CounterfactualProbe):
    """Control arm: does not ask whether a state is being written."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._state_managers = {}


def _num_wrong_probes(seed: int, num_states: int = 200) -> int:
    wrong = 0
    for scheduler in random_states(num_states, seed=seed):
        step = recorded_step(scheduler)
        reality = scheduled_by(scheduler, "radixflow-immediate")
        behind = {name: tokens for name, tokens in reality.items() if name not in step.scheduled}
        wrong += list(step.ready.items()) != list(behind.items())
    return wrong


def test_a_probe_without_the_state_check_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radixflow.collector.instrumentation.stops.refusal_explainer.CounterfactualProbe", BlindProbe)
    assert _num_wrong_probes(seed=2000) > 0


def test_a_probe_that_forgets_what_it_has_taken_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: every request is looked up in the cache as it was, without the blocks taken by those before it."""

    def look_at(self: Any, visit: Any) -> str | None:
        self._shadow = shadow.shadow_of(self._scan.kv_cache_manager)
        managers = self._shadow.coordinator.single_type_managers
        self._state_managers = {index: managers[index] for index in self._state_managers}
        return native(self, visit)

    native = CounterfactualProbe._look_at
    monkeypatch.setattr(CounterfactualProbe, "_look_at", look_at)
    assert _num_wrong_probes(seed=2000) > 0
