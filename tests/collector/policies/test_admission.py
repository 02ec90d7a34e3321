"""Admission rules and the fragmentation guard on the real scheduler, with a clock that the test turns."""

from collections.abc import Callable
from typing import Any

import pytest

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.policies.fragmentation import FragmentationGuard
from radixflow.collector.vllm_adapters.scan import ScanListener
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import run_round

MILLISECOND = 1_000_000
BLOCK = 64


class Clock:
    """Monotonic nanoseconds under the control of the test."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


class Releases(ScanListener):
    """Keeps who was released and why."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def released(self, request: Any, reason: str) -> None:
        self.reasons[request.request_id] = reason


@pytest.fixture
def build() -> Callable[..., Any]:
    def build_with_clock(policy: str, rows: int = 4, budget: int = 1024) -> Any:
        scheduler: Any = build_scheduler(
            RadixFlowScheduler,
            block_size=BLOCK,
            max_num_seqs=rows,
            max_num_batched_tokens=budget,
            num_blocks=400,
            additional_config={"radixflow": {"policy": policy}},
        )
        scheduler.clock = Clock()
        scheduler.listener = Releases()
        return scheduler

    return build_with_clock


def add(scheduler: Any, name: str, num_tokens: int, seed: int = 0, max_tokens: int = 1) -> None:
    prompt = [5 + (seed * 131 + position * 7) % 400 for position in range(num_tokens)]
    scheduler.add_request(make_request(scheduler, name, prompt, max_tokens=max_tokens))


def selected(scheduler: Any) -> list[str]:
    return list(run_round(scheduler).num_scheduled_tokens)


def test_flex_waits_for_its_deadline_and_no_longer(build: Callable[..., Any]) -> None:
    scheduler = build("radixflow")
    add(scheduler, "a", 100)
    scheduler.clock.now_ns = 5 * MILLISECOND - 1
    assert selected(scheduler) == []
    scheduler.clock.now_ns = 5 * MILLISECOND
    assert selected(scheduler) == ["a"]
    assert scheduler.listener.reasons == {"a": "deadline"}


def test_flex_releases_branch_by_branch(build: Callable[..., Any]) -> None:
    scheduler = build("radixflow")
    add(scheduler, "a", 100)
    scheduler.clock.now_ns = 3 * MILLISECOND
    add(scheduler, "b", 100, seed=1)
    scheduler.clock.now_ns = 5 * MILLISECOND
    assert selected(scheduler) == ["a"]


def test_flex_releases_at_once_while_work_is_running(build: Callable[..., Any]) -> None:
    scheduler = build("radixflow")
    add(scheduler, "a", 100, max_tokens=8)
    scheduler.clock.now_ns = 5 * MILLISECOND
    assert selected(scheduler) == ["a"]
    add(scheduler, "b", 100, seed=1)
    assert selected(scheduler) == ["a", "b"]
    assert scheduler.listener.reasons["b"] == "work_running"


def test_flex_releases_when_the_rows_are_full(build: Callable[..., Any]) -> None:
    scheduler = build("radixflow", rows=2)
    add(scheduler, "a", 100)
    assert selected(scheduler) == []
    add(scheduler, "b", 100, seed=1)
    assert selected(scheduler) == ["a", "b"]
    assert scheduler.listener.reasons == {"a": "rows_full", "b": "rows_full"}


def test_flex_releases_when_held_demand_fills_the_budget(build: Callable[..., Any]) -> None:
    scheduler = build("radixflow", rows=8, budget=512)
    add(scheduler, "a", 300)
    assert selected(scheduler) == []
    add(scheduler, "b", 300, seed=1)
    assert selected(scheduler) == ["a", "b"]
    assert set(scheduler.listener.reasons.values()) == {"budget_full"}


def test_a_held_request_can_be_aborted(build: Callable[..., Any]) -> None:
    from vllm.v1.request import RequestStatus

    scheduler = build("radixflow")
    add(scheduler, "a", 100)
    assert selected(scheduler) == []
    scheduler.finish_requests("a", RequestStatus.FINISHED_ABORTED)
    scheduler.clock.now_ns = 50 * MILLISECOND
    assert selected(scheduler) == []
    assert not scheduler.has_unfinished_requests()
    assert not scheduler.rules[0]._held_since, "an aborted request is forgotten"


def fill_a_batch_behind_held_ones(scheduler: Any) -> list[list[str]]:
    """Two rows; three branches arrive within a timer. Returns the rounds."""
    for seed, name in enumerate("abc"):
        add(scheduler, name, 100, seed=seed)
    first = selected(scheduler)
    scheduler.clock.now_ns = 10 * MILLISECOND
    return [first, selected(scheduler), selected(scheduler)]


def test_the_plain_timer_lets_a_later_branch_overtake_a_held_one(build: Callable[..., Any]) -> None:
    # a is tested while the batch is not full, b fills it, and c comes through behind b.
    assert fill_a_batch_behind_held_ones(build("radix+timer10", rows=2))[0] == ["b", "c"]


def test_the_ordered_timer_does_not(build: Callable[..., Any]) -> None:
    assert fill_a_batch_behind_held_ones(build("radix+timer10-ordered", rows=2))[0] == ["a", "b"]


def test_a_timer_holds_until_it_ends(build: Callable[..., Any]) -> None:
    for policy in ("radix+timer5", "radix+timer5-ordered"):
        scheduler = build(policy)
        add(scheduler, "a", 100)
        assert selected(scheduler) == []
        scheduler.clock.now_ns = 5 * MILLISECOND
        assert selected(scheduler) == ["a"]


def frag_rounds(scheduler: Any) -> list[dict[str, int]]:
    """A budget of 8 blocks; the first branch leaves 3 of them, the second could use 6."""
    scheduler.rules = tuple(rule for rule in scheduler.rules if isinstance(rule, FragmentationGuard))
    add(scheduler, "a", 5 * BLOCK - 1)
    add(scheduler, "b", 6 * BLOCK + 10, seed=1)
    return [dict(run_round(scheduler).num_scheduled_tokens) for _ in range(2)]


def test_the_guard_defers_a_branch_and_its_segment_is_whole_in_the_next_round(build: Callable[..., Any]) -> None:
    first, second = frag_rounds(build("radixflow+frag", budget=8 * BLOCK))
    assert list(first) == ["a"]
    assert second["b"] == 6 * BLOCK


def test_without_the_guard_the_segment_is_cut(build: Callable[..., Any]) -> None:
    first, _ = frag_rounds(build("radixflow", budget=8 * BLOCK))
    assert 0 < first["b"] < 6 * BLOCK
