"""Steps that schedule nothing while work waits leave a trace: one row a stretch, with what held it up.

The numbers are compared with a count by hand around schedule(), which knows nothing of the recorder.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.recorder.round_sample import RoundSample
from radixflow.collector.instrumentation.recorder.stall_watch import StallWatch
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.stops import refusal_explainer
from radixflow.schema.checking.check import check_run
from tests.collector.streams.stalled_lab import SHAPE, StalledLab
from tests.scheduler_harness import build_scheduler, make_request, run_round


def larger_than_pool(path: Path, **more: Any) -> StalledLab:
    """A prompt that can never fit stands at the head; six that would fit stand behind it."""
    lab = StalledLab(path, **more)
    lab.add("small-0", 20)
    lab.step(2)
    lab.add("giant", 1000)
    for number in range(6):
        lab.add(f"small-{number + 1}", 20)
    return lab


def agrees(lab: StalledLab) -> None:
    """The table is what was counted by hand, every step without work is counted, and the run is right."""
    assert lab.stalls() == lab.recount()
    assert lab.ask("SELECT num_empty_steps FROM run_summary") == [(lab.num_empty,)]
    assert check_run(lab.path) == []


def test_a_head_larger_than_the_pool_is_one_row(tmp_path: Path) -> None:
    lab = larger_than_pool(tmp_path / "run")
    lab.step(2_000)
    lab.close()
    agrees(lab)
    assert lab.stalls() == [(2_000, 2, 7, 0, 0, 39)]
    assert lab.reasons() == [("full_prompt_reservation", "larger_than_pool", "giant", 2_000)]
    assert lab.ask("SELECT num_stalls, num_stalled_steps, num_steps_awaiting_output FROM stall_summary") == [
        (1, 2_000, 0)
    ]


def test_admitted_and_dropped_near_the_ceiling_of_the_pool(tmp_path: Path) -> None:
    """The prompt is prefilled, preempts itself, and is prefilled again: preemptions of steps that are no rounds."""
    lab = StalledLab(tmp_path / "run", max_num_seqs=4, scheduler_reserve_full_isl=False)
    near = lab.add("near", 16 * 31, max_tokens=200)
    for number in range(3):
        lab.add(f"small-{number}", 20, max_tokens=10)
    lab.step(600)
    lab.close()
    agrees(lab)
    assert lab.num_empty == 550
    assert [reason[:3] for reason in lab.reasons()] == [
        ("preempted_step", None, "near"), ("preempted_step", None, "near"), ("kv_blocks", "larger_than_pool", "near"),
    ]  # fmt: skip
    preempted = lab.ask("SELECT request, round FROM events WHERE event = 'preempted' ORDER BY time_ns")
    assert preempted.count((0, None)) == near.num_preemptions == 2
    ((in_rounds,),) = lab.ask("SELECT sum(num_preempted) FROM rounds")
    assert in_rounds == len(preempted) - 2


def test_a_preemption_that_names_a_round_that_is_none_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control arm: whether the step is a round is not waited for."""

    def at_once(self: RoundRecorder, round_number: int | None) -> None:
        native(self, self._round + 1 if round_number is None else round_number)

    native = RoundRecorder._note_preemptions
    monkeypatch.setattr(RoundRecorder, "_note_preemptions", at_once)
    lab = StalledLab(tmp_path / "run", max_num_seqs=4, scheduler_reserve_full_isl=False)
    lab.add("near", 16 * 31, max_tokens=200)
    lab.step(200)
    lab.close()
    assert any("is not in rounds" in fault.sentence for fault in check_run(lab.path))


def test_a_head_that_starves_while_others_run_is_no_stall(tmp_path: Path) -> None:
    """Beside a decode the aligned split of the head is 0 in every round: rounds go on, so no step is without work."""
    lab = StalledLab(tmp_path / "run", block_size=64, num_blocks=200)
    lab.add("decoder", 10, max_tokens=300)
    lab.step(3)
    lab.add("head", 200)
    for number in range(4):
        lab.add(f"short-{number}", 20)
    lab.step(200)
    lab.close()
    agrees(lab)
    assert lab.num_empty == 0 and lab.stalls() == []
    assert lab.ask("SELECT num_stalls, longest_stall_ms, stalled_fraction FROM stall_summary") == [(0, None, 0.0)]


def test_a_run_without_any_round_has_its_stall(tmp_path: Path) -> None:
    lab = StalledLab(tmp_path / "run")
    lab.add("giant", 1000)
    lab.step(50)
    lab.close()
    agrees(lab)
    assert lab.ask("SELECT round_before, num_steps FROM stalls") == [(None, 50)]
    assert lab.ask("SELECT start_ms, end_ms > 0 FROM stall_times") == [(0.0, True)], "its own begin is zero"


def test_a_standstill_that_ends_is_written_before_the_round_behind_it(tmp_path: Path) -> None:
    lab = larger_than_pool(tmp_path / "run")
    lab.step(30)
    lab.scheduler.finish_requests("giant", _aborted())
    lab.step(10)
    lab.close()
    assert lab.stalls()[0] == (30, 2, 7, 0, 0, 39)
    agrees(lab)
    assert lab.ask("SELECT num_empty_steps FROM rounds ORDER BY round LIMIT 3") == [(0,), (0,), (30,)]
    assert lab.reasons()[0][2] == "giant", "the name of a request that left is kept"


def test_what_changes_ends_a_stretch_and_idle_steps_are_none(tmp_path: Path) -> None:
    lab = larger_than_pool(tmp_path / "run")
    lab.step(5)
    lab.add("small-7", 20)
    lab.step(6)
    lab.scheduler.finish_requests([*lab.scheduler.requests], _aborted())
    lab.step(7)
    lab.close()
    agrees(lab)
    assert [row[:3] for row in lab.stalls()] == [(5, 2, 7), (6, 2, 8)]
    assert lab.num_empty == 18


def test_sessions_without_input_hold_the_rows(tmp_path: Path) -> None:
    """Parked sessions count as active requests: with as many as there are rows nobody else gets in."""
    lab = StalledLab(tmp_path / "run", max_num_seqs=2, num_blocks=200)
    for name in ("session-0", "session-1"):
        lab.add(name, 20, resumable=True)
    lab.step(4)
    assert lab.scheduler.num_waiting_for_streaming_input == 2
    parked = len(lab.steps)
    lab.step(3)  # nothing but parked sessions: idle
    lab.add("other", 20)
    lab.step(40)
    lab.close()
    assert check_run(lab.path) == []
    assert lab.reasons() == [("row_capacity", "parked_sessions", "other", 40)]
    assert lab.ask("SELECT num_waiting, num_running FROM stalls") == [(1, 0)]
    assert lab.ask("SELECT num_empty_steps FROM run_summary") == [(lab.num_empty,)] and parked == 4


def test_steps_that_await_an_output_are_kept_apart(tmp_path: Path) -> None:
    lab = larger_than_pool(tmp_path / "run", is_async=True)
    lab.step(400)
    lab.close()
    agrees(lab)
    in_flight = sum(steps for steps, *_, flying, _ in lab.recount() if flying)
    stalled = sum(steps for steps, *_, flying, _ in lab.recount() if not flying)
    assert in_flight and stalled
    assert lab.ask("SELECT num_stalled_steps, num_steps_awaiting_output FROM stall_summary") == [(stalled, in_flight)]
    assert lab.ask("SELECT DISTINCT kind FROM stall_times ORDER BY ALL") == [("awaits_output",), ("stalled",)]


def test_outputs_that_are_not_followed_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control arm: the recorder does not hear that an output was processed."""
    monkeypatch.setattr(RoundRecorder, "other_update_ended", lambda self, output: None)
    lab = larger_than_pool(tmp_path / "run", is_async=True)
    lab.step(40)
    lab.close()
    assert lab.stalls() != lab.recount()


def test_a_sample_of_the_rounds_has_every_stall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No round is drawn, so no refusal of one is explained; a step without work is, as it belongs to no round."""
    monkeypatch.setattr(RoundSample, "draw", lambda self: setattr(self, "is_kept", False))
    sampled = RecorderSettings.from_config

    def a_sample(vllm_config: Any) -> RecorderSettings:
        settings = sampled(vllm_config)
        assert settings is not None
        return RecorderSettings(settings.run_directory, "full", sample_rounds=0.01)

    monkeypatch.setattr(RecorderSettings, "from_config", a_sample)
    lab = larger_than_pool(tmp_path / "run")
    lab.step(300)
    lab.close()
    assert lab.stalls() == lab.recount() and check_run(lab.path) == []
    assert lab.reasons() == [("full_prompt_reservation", "larger_than_pool", "giant", 300)]
    assert lab.ask("SELECT num_empty_steps, num_rounds, num_rounds_kept FROM run_summary") == [(300, 2, 0)]
    said = "num_stalls, stalled_fraction, num_steps_awaiting_output, why_not_measured, why_no_share"
    assert lab.ask(f"SELECT {said} FROM stall_summary") == [(1, None, None, None, "it keeps a sample of its rounds")]


def test_what_a_rule_holds_is_told_without_a_round_and_counted_apart(tmp_path: Path) -> None:
    lab = StalledLab(tmp_path / "run", policy="radix+timer10")
    lab.scheduler.clock = clock = Clock()
    lab.add("a", 20)
    lab.step(3)
    clock.now_ns += 20_000_000
    lab.step(2)
    lab.close()
    agrees(lab)
    assert lab.ask("SELECT event, round FROM events WHERE event IN ('held', 'selected') ORDER BY time_ns") == [
        ("held", None), ("selected", 1),
    ]  # fmt: skip
    assert lab.ask("SELECT kind, num_steps, stop_cause FROM stall_times") == [("held", 3, "held")]
    assert lab.ask("SELECT num_stalls, num_steps_held FROM stall_summary") == [(0, 3)]


class Clock:
    """A clock that stands until it is moved."""

    now_ns = 1_000_000_000

    def __call__(self) -> int:
        return self.now_ns


LONG = 20_000


def test_a_livelock_costs_one_row_no_memory_and_one_explanation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    native = refusal_explainer.refused_allocation_reason
    monkeypatch.setattr(
        refusal_explainer, "refused_allocation_reason", lambda *given: asked.append(1) or native(*given)
    )
    lab = larger_than_pool(tmp_path / "run")
    lab.step(200)
    tracemalloc.start()
    try:
        for _ in range(LONG):
            run_round(lab.scheduler)
        lab.recorder.read()
        gc.collect()  # what waits for it is no growth
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    print(f"{LONG:,} steps: {grown:,} bytes more, {len(asked)} explanation(s), {len(lab.recorder._tape)} notes waiting")
    assert grown < 200_000 and len(asked) == 1 and not len(lab.recorder._tape)
    assert lab.recorder._facts()["stall"]["num_steps"] == LONG + 200
    lab.close()
    assert lab.ask("SELECT num_steps FROM stalls") == [(LONG + 200,)]


@pytest.mark.parametrize("happens", ["registered", "finished", "reset"])
def test_whatever_may_change_an_answer_has_it_asked_again(
    happens: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    native = refusal_explainer.refused_allocation_reason
    monkeypatch.setattr(
        refusal_explainer, "refused_allocation_reason", lambda *given: asked.append(1) or native(*given)
    )
    lab = larger_than_pool(tmp_path / "run")
    lab.step(10)
    assert len(asked) == 1
    if happens == "registered":
        lab.add("later", 20)
    elif happens == "finished":
        lab.scheduler.finish_requests("small-6", _aborted())
    else:
        lab.scheduler.reset_prefix_cache()
    lab.step(10)
    lab.close()
    assert len(asked) == 2


def test_a_step_of_a_livelock_costs_little_more_than_unrecorded(tmp_path: Path) -> None:
    """Printed for whoever looks; the bound is wide, since the machine is shared."""

    def fastest(scheduler: Any) -> float:
        times = []
        for _ in range(7):
            begun = time.perf_counter()
            for _ in range(300):
                scheduler.schedule()
            times.append((time.perf_counter() - begun) / 300)
        return min(times)

    lab = larger_than_pool(tmp_path / "run")
    lab.step(10)
    plain: Any = build_scheduler(**SHAPE)
    plain.add_request(make_request(plain, "giant", [7 + number % 400 for number in range(1000)]))
    for number in range(6):
        plain.add_request(make_request(plain, f"small-{number}", [9 + number] * 20))
    alone, recorded = fastest(plain), fastest(lab.scheduler)
    lab.close()
    print(f"a step: {alone * 1e6:.1f} us unrecorded, {recorded * 1e6:.1f} us recorded, ratio {recorded / alone:.2f}")
    assert recorded - alone < 200e-6


def test_a_watch_that_never_joins_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control arm: every step is a stall of its own."""
    native = StallWatch.add

    def apart(self: StallWatch, *given: Any) -> None:
        self.end()
        native(self, *given)

    monkeypatch.setattr(StallWatch, "add", apart)
    lab = larger_than_pool(tmp_path / "run")
    lab.step(20)
    lab.close()
    assert len(lab.stalls()) == 20 and lab.stalls() != lab.recount()


def _aborted() -> Any:
    from vllm.v1.request import RequestStatus

    return RequestStatus.FINISHED_ABORTED
