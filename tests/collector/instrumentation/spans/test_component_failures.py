"""Times of components that cannot be taken: scheduling goes on as if nobody had measured, and the run says so."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("vllm")

from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation.guard import never_raises
from radixflow.collector.instrumentation.schedulers import RecordedScheduler
from radixflow.collector.instrumentation.spans import component_times
from radixflow.collector.instrumentation.spans.component_times import EngineComponents, WorkerComponents
from radixflow.collector.vllm_adapters.scan import ComponentListener
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests.collector.instrumentation.recorder.test_recorder_failures import decisions, make_run

HOOKS = sorted(name for name, hook in vars(ComponentListener).items() if callable(hook) and not name.startswith("_"))


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_guarded(hook: str) -> None:
    assert hasattr(getattr(EngineComponents, hook), "__wrapped__"), f"{hook} is not decorated with never_raises"


@pytest.mark.parametrize("hook", ["start_round", "begin", "end", "close"])
def test_every_hook_of_a_worker_is_guarded(hook: str) -> None:
    assert hasattr(getattr(WorkerComponents, hook), "__wrapped__")


@pytest.mark.parametrize("hook", ["begin", "end", "decided", "closed"])
def test_a_hook_that_raises_changes_no_decision_and_rounds_are_recorded_on(
    hook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    unrecorded = decisions(Scheduler, "radix", seed=3)
    guarded = getattr(EngineComponents, hook)
    calls: list[str] = []

    def fails(self: Any, *args: Any) -> None:
        guarded.__wrapped__(self, *args)
        calls.append(hook)
        if len(calls) == 3 or hook == "closed":
            raise RuntimeError("sabotage")

    fails.__name__ = hook
    monkeypatch.setattr(EngineComponents, hook, never_raises(fails))
    run = make_run(tmp_path, "radix")
    assert decisions(RecordedScheduler, "radix", seed=3, run=run) == unrecorded
    assert len(calls) == (1 if hook == "closed" else 3), "it must be reached, and let go of at its first failure"
    engine = RunDirectory(run).writers()["engine"]
    assert engine["faults"] == [f"recording stopped in {hook}: RuntimeError: sabotage"]
    assert engine["rows_written"]["rounds"] > 20
    assert capfd.readouterr().err.count("sabotage") == 1


def test_intervals_do_not_pile_up_behind_a_writer_that_has_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(component_times, "MOST_WAITING", 50)
    create_run(tmp_path / "run", Manifest("e", "s", "radix"))
    writer = SegmentWriter(tmp_path / "run", "engine")
    components = EngineComponents(writer)
    writer.close()
    for number in range(1, 401):
        components.begin("lookup")
        components.end()
        components.decided(SimpleNamespace(num_scheduled_tokens={"a": 1}, radixflow_round=number))
    assert len(components._rows) <= 51
    assert writer.drops == {"spans": 400 - len(components._rows)}
