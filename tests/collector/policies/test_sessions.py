"""Streaming-input sessions: admitted once, and forgotten when they end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from vllm.v1.request import RequestStatus

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.policies.catalog import ALIASES
from radixflow.collector.vllm_adapters.scan_hooks import ScanHooks
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import run_round

MILLISECOND = 1_000_000
POLICIES = [name for name in ALIASES if name not in ("stock", "radix")]
HOLDING = [name for name in POLICIES if ALIASES[name][0].delay_ms]


class Clock:
    """Monotonic nanoseconds under the control of the test."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


def scheduler_under(policy: str) -> Any:
    scheduler: Any = build_scheduler(
        RadixFlowScheduler,
        block_size=16,
        max_num_seqs=4,
        max_num_batched_tokens=512,
        num_blocks=400,
        max_model_len=2048,
        additional_config={"radixflow": {"policy": policy}},
    )
    scheduler.clock = Clock()
    return scheduler


def send(scheduler: Any, name: str, tokens: list[int], more: bool = True) -> None:
    """One input of a session; with ``more`` another one may follow."""
    scheduler.add_request(make_request(scheduler, name, tokens, resumable=more))


def rounds_until_answered(scheduler: Any, name: str, limit_ms: int = 100) -> int:
    """Steps of a millisecond until a session waits for its next input."""
    for step in range(limit_ms):
        if scheduler.requests[name].status == RequestStatus.WAITING_FOR_STREAMING_REQ:
            return step
        run_round(scheduler)
        scheduler.clock.now_ns += MILLISECOND
    raise AssertionError(f"{name} got no answer")


@pytest.mark.parametrize("policy", HOLDING)
def test_a_session_is_held_once(policy: str) -> None:
    scheduler = scheduler_under(policy)
    send(scheduler, "session", [11] * 40)
    assert rounds_until_answered(scheduler, "session") > 2, "its first input waits for company"
    for number in range(5):
        send(scheduler, "session", [12 + number] * 8)
        assert rounds_until_answered(scheduler, "session") == 1, "its later inputs do not"


def test_idle_sessions_are_no_company() -> None:
    """Two idle sessions and one held request do not fill the two rows that are left of four."""
    scheduler = scheduler_under("radixflow")
    for name in ("one", "two"):
        send(scheduler, name, [11] * 40)
        rounds_until_answered(scheduler, name)
    send(scheduler, "held", [12] * 40)
    assert not run_round(scheduler).num_scheduled_tokens
    scheduler.clock.now_ns += 5 * MILLISECOND
    assert list(run_round(scheduler).num_scheduled_tokens) == ["held"]


def entries(scheduler: Any) -> int:
    """How much the rules remember, in entries of all their containers."""
    containers = [value for rule in scheduler.rules for value in vars(rule).values()]
    return sum(len(value) for value in containers if isinstance(value, dict | list | set))


def sizes_over_many_sessions(scheduler: Any, num_sessions: int = 200) -> list[int]:
    """What the rules remember after each session: some end by themselves, some are aborted while they are held."""
    sizes = []
    for number in range(num_sessions):
        name = f"session-{number}"
        send(scheduler, name, [5 + number % 400] * 24)
        if number % 4 == 0:
            scheduler.finish_requests(name, RequestStatus.FINISHED_ABORTED)
        else:
            rounds_until_answered(scheduler, name)
            for chunk in range(number % 3):
                send(scheduler, name, [7 + chunk] * 8)
                rounds_until_answered(scheduler, name)
            send(scheduler, name, [9], more=False)
        assert name not in scheduler.requests
        run_round(scheduler)
        sizes.append(entries(scheduler))
    return sizes


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_remembered_of_sessions_that_ended(policy: str) -> None:
    assert max(sizes_over_many_sessions(scheduler_under(policy))) == 0


def _registering_each_input(native: Callable[..., Any]) -> Callable[..., Any]:
    def add_request(self: Any, request: Any) -> None:
        goes_on = request.request_id in self.requests
        native(self, request)
        for rule in self.rules if goes_on else ():
            rule.registered(request, self.clock())

    return add_request


def test_a_scheduler_that_registers_each_input_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: every input of a session is a new arrival for the rules, as it once was."""
    monkeypatch.setattr(ScanHooks, "add_request", _registering_each_input(ScanHooks.add_request))
    sizes = sizes_over_many_sessions(scheduler_under("radixflow"), num_sessions=40)
    assert sizes[-1] > 20 and sizes == sorted(sizes)
    scheduler = scheduler_under("radixflow")
    send(scheduler, "session", [11] * 40)
    rounds_until_answered(scheduler, "session")
    send(scheduler, "session", [12] * 8)
    assert rounds_until_answered(scheduler, "session") > 1
