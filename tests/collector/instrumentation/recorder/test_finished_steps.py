"""What a step leaves behind is read when schedule() ends, and does not change with the requests that go on."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("vllm")

from radixflow.collector.instrumentation.notes.step_notes import FinishedStep, ProbeResult, StepNotes
from radixflow.collector.instrumentation.recorder.finished_steps import finished_step
from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.vllm_adapters.scan import ScanListener
from tests.scheduler_harness import SchedulerWorld, WorldShape

PROBE_NS, RECORDER_NS = 1_000_000_000, 300_000_000
BUDGET = 40


class StepsOfAScheduler(ScanListener):
    """Keeps what each step left behind, with what the scheduler said of itself at that moment."""

    def __init__(self, scan: Any) -> None:
        self.steps: list[tuple[FinishedStep, dict[str, Any]]] = []
        self._scan = scan

    def step_ended(self, output: Any) -> None:
        scheduled = output.num_scheduled_tokens
        if not scheduled:
            return
        scan = self._scan
        notes = StepNotes(scan.step_started_ns, 0, 0, recorder_ns=RECORDER_NS, probe=ProbeResult([], "", PROBE_NS))
        now_ns = scan.clock()
        step = finished_step(scan, notes, scheduled, len(self.steps) + 1, 3, True, now_ns)
        said = {
            "rows": {name: scan.requests[name].num_computed_tokens for name in scheduled},
            "idle": [request.request_id for request in scan.running if request.request_id not in scheduled],
            "num_waiting": len(scan.requests) - len(scan.running),
            "num_free_blocks": scan.kv_cache_manager.block_pool.get_num_free_blocks(),
            "now_ns": now_ns,
            "later_ns": scan.clock(),
        }
        self.steps.append((step, said))


@pytest.fixture(scope="module")
def steps() -> list[tuple[FinishedStep, dict[str, Any]]]:
    """Steps of a crowded scheduler with small budgets, looked at when it has long gone on."""
    shape = WorldShape(
        block_size=16, hash_block_size=None, num_blocks=200, max_num_seqs=16, max_num_batched_tokens=BUDGET,
        max_prompt_tokens=200, arrival_rate=3.0,
    )  # fmt: skip
    world = SchedulerWorld(shape, random.Random(7), RadixFlowScheduler, {"radixflow": {"policy": "radix"}})
    listener = StepsOfAScheduler(world.scheduler)
    world.scheduler.listener = listener  # type: ignore[attr-defined]
    for _ in world.states(200):
        world.advance()
    world.answer_all()
    return listener.steps


def disagreements(steps: list[tuple[FinishedStep, dict[str, Any]]]) -> set[str]:
    """What the steps say otherwise than the scheduler did at their moment."""
    found = set()
    for step, said in steps:
        computed = {request.request_id: end for request, _, end, _ in step.rows}
        checks = {
            "rows": computed == said["rows"],
            "idle": step.num_idle == len(said["idle"]) and 0 <= step.num_idle_for_tokens <= step.num_idle,
            "num_waiting": step.num_waiting == said["num_waiting"],
            "num_free_blocks": step.num_free_blocks == said["num_free_blocks"],
            "tokens_left": step.num_tokens_left == BUDGET - sum(num_tokens for _, num_tokens, _, _ in step.rows),
        }
        found |= {name for name, agrees in checks.items() if not agrees}
    return found


def test_a_step_is_what_it_was_when_schedule_ended(steps: list[tuple[FinishedStep, dict[str, Any]]]) -> None:
    assert len(steps) > 100 and disagreements(steps) == set()
    assert any(step.num_idle_for_tokens for step, _ in steps), "the budget leaves running requests without tokens"
    assert any(step.marks for step, _ in steps)
    assert [step.round_number for step, _ in steps] == list(range(1, len(steps) + 1))


def test_a_step_that_is_read_too_late_would_be_found(steps: list[tuple[FinishedStep, dict[str, Any]]]) -> None:
    """The control arm: computed tokens are looked up now."""
    late = []
    for step, said in steps:
        rows = [(request, num_tokens, request.num_computed_tokens, num) for request, num_tokens, _, num in step.rows]
        late.append((step._replace(rows=rows), said))
    assert disagreements(late) == {"rows"}


def test_the_time_of_the_recorder_and_of_the_probe_is_not_that_of_scheduling(
    steps: list[tuple[FinishedStep, dict[str, Any]]],
) -> None:
    for step, said in steps:
        assert step.ended_ns == said["now_ns"] - PROBE_NS - RECORDER_NS
        assert RECORDER_NS <= step.recorder_ns <= RECORDER_NS + said["later_ns"] - said["now_ns"]
        assert step.num_empty_steps == 3 and step.is_kept
