"""A recorder that fails, in whatever hook: scheduling goes on as if nobody had listened, and the run says so."""

import gc
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation.guard import never_raises
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.collector.instrumentation.stops.probe import CounterfactualProbe
from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.vllm_adapters.scan import ScanListener
from radixflow.schema.checking.check import check_run
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from radixflow.schema.writing import live_writers
from tests.scheduler_harness import SchedulerWorld, WorldShape, output_digest

HOOKS = sorted(name for name in vars(ScanListener) if not name.startswith("_"))
NUM_ROUNDS = 60
Decisions = list[dict[str, Any]]
Sabotage = Callable[[pytest.MonkeyPatch], list[str]]


def decisions(scheduler_cls: type[Scheduler], policy: str, seed: int, run: Path | None = None) -> Decisions:
    """Everything that schedule() says in a random walk, with the same traffic for the same seed.

    The pool is small and the decodes are long, so that requests are preempted, blocked and finished.
    """
    rng = random.Random(seed)
    shape = WorldShape(
        block_size=16, hash_block_size=None, num_blocks=80, max_num_seqs=8, max_num_batched_tokens=64,
        max_prompt_tokens=96, arrival_rate=4.0, async_scheduling=scheduler_cls is RecordedAsyncScheduler,
    )  # fmt: skip
    settings = {"policy": policy} | ({} if run is None else {"run_directory": str(run), "probe": "full"})
    world = SchedulerWorld(shape, rng, scheduler_cls, {"radixflow": settings})
    said = []
    for _ in world.states(NUM_ROUNDS):
        world.advance()
        said.append(output_digest(world.last_output) if world.last_output is not None else {})
    world.answer_all()
    world.scheduler.shutdown()
    gc.collect()  # schedulers are cycles of some megabytes each
    return said


def make_run(folder: Path, policy: str) -> Path:
    create_run(folder / policy, Manifest("e", "s", policy, state="complete"))
    return folder / policy


def break_hook(monkeypatch: pytest.MonkeyPatch, hook: str, does_its_work: bool) -> list[str]:
    """Make the third call of a hook raise, before its work or after it; returns a list of its failures."""
    guarded = getattr(RoundRecorder, hook)
    failures: list[str] = []
    calls = []

    def fails(self: Any, *args: Any) -> None:
        calls.append(hook)
        if len(calls) < 3 and hook != "closed":
            guarded.__wrapped__(self, *args)
            return
        if does_its_work:
            guarded.__wrapped__(self, *args)
        failures.append(hook)
        raise RuntimeError("sabotage")

    fails.__name__ = hook
    monkeypatch.setattr(RoundRecorder, hook, never_raises(fails))
    return failures


def break_probe(monkeypatch: pytest.MonkeyPatch, method: str) -> list[str]:
    failures: list[str] = []
    original = getattr(CounterfactualProbe, method)

    def fails(*args: Any) -> None:
        original(*args)  # so that the shadow is spent
        failures.append(method)
        raise RuntimeError("sabotage")

    monkeypatch.setattr(CounterfactualProbe, method, fails)
    return failures


def assert_the_run_says_so(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    live_writers.close_all()  # as at the end of the process: the recorder does not wait for the disk
    status = RunDirectory(run).writers()["engine"]
    assert not status["closed"], "a recording that ended early is not complete"
    (sentence,) = status["faults"]
    assert sentence.startswith("recording stopped in ")
    assert sentence.endswith("RuntimeError: sabotage")
    assert any(fault.where == "writers/engine.json" and fault.sentence == sentence for fault in check_run(run))
    assert capfd.readouterr().err.count("the engine goes on unrecorded") == 1


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_guarded(hook: str) -> None:
    assert hasattr(getattr(RoundRecorder, hook), "__wrapped__"), f"{hook} is not decorated with never_raises"


@pytest.mark.parametrize("does_its_work", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_that_raises_changes_no_decision_and_is_told(
    hook: str, does_its_work: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = {"released": "radix+flex", "skipped": "radixflow-immediate"}.get(hook, "radix")
    unrecorded = decisions(Scheduler if policy == "radix" else RadixFlowScheduler, policy, seed=3)
    run = make_run(tmp_path, policy)
    failures = break_hook(monkeypatch, hook, does_its_work)
    recorded = decisions(RecordedScheduler, policy, seed=3, run=run)
    assert failures == [hook], "the walk must reach the hook, and the recorder must let go at its first failure"
    assert recorded == unrecorded
    assert_the_run_says_so(run, capfd)


@pytest.mark.parametrize("method", ["run", "_look_at", "_allocate"])
def test_a_probe_that_raises_changes_no_decision_and_is_told(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    unrecorded = decisions(Scheduler, "radix", seed=3)
    run = make_run(tmp_path, "radix")
    failures = break_probe(monkeypatch, method)
    assert decisions(RecordedScheduler, "radix", seed=3, run=run) == unrecorded
    assert failures == [method]
    assert_the_run_says_so(run, capfd)


def test_a_whole_recorder_changes_no_decision_and_tells_of_no_fault(tmp_path: Path) -> None:
    """The control arm: nothing is sabotaged, and nothing is said."""
    run = make_run(tmp_path, "radix")
    assert decisions(RecordedScheduler, "radix", seed=3, run=run) == decisions(Scheduler, "radix", seed=3)
    assert RunDirectory(run).writers()["engine"]["faults"] == []


def test_a_decision_that_differs_would_be_seen() -> None:
    """The other control arm: two policies decide differently in this walk."""
    assert decisions(RadixFlowScheduler, "radixflow-immediate", seed=3) != decisions(Scheduler, "radix", seed=3)
