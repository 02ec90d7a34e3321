"""The hooks of a recorder: they note, and leave the making of rows to whoever reads the notes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.policies import RadixFlowScheduler
from tests.collector.policies.same_state import RowList
from tests.scheduler_harness import build_scheduler, make_request, run_round, schedule_round, update_round


def recorded(**arguments: Any) -> tuple[Any, RoundRecorder, RowList]:
    """A scheduler, its recorder, and the rows that it makes when it is asked to read."""
    scheduler: Any = build_scheduler(
        RadixFlowScheduler, block_size=16, max_num_seqs=4, max_num_batched_tokens=64, num_blocks=60,
        additional_config={"radixflow": {"policy": "radix"}}, **arguments,
    )  # fmt: skip
    rows = RowList()
    recorder = RoundRecorder(scheduler, rows, RecorderSettings(Path("unused"), "full"))  # type: ignore[arg-type]
    scheduler.listener = recorder
    return scheduler, recorder, rows


def add(scheduler: Any, name: str, max_tokens: int = 50) -> None:
    tokens = [random.Random(name).randrange(5, 500) for _ in range(20)]
    scheduler.add_request(make_request(scheduler, name, tokens, max_tokens=max_tokens))


def details(rows: RowList, event: str) -> list[tuple[int | None, str | None]]:
    """Round and detail of each event of a kind."""
    return [(row[3], row[5]) for row in rows.tables.get("events", []) if row[2] == event]


def test_hooks_make_no_rows() -> None:
    scheduler, recorder, rows = recorded()
    add(scheduler, "a")
    run_round(scheduler)
    assert rows.tables == {} and len(recorder._tape) >= 3
    recorder.read()
    assert len(recorder._tape) == 0
    assert {table: len(made) for table, made in rows.tables.items()} == {
        "registrations": 1, "block_hashes": 1, "rows": 1, "rounds": 1, "events": 2,
    }  # fmt: skip


def test_a_round_is_open_until_its_output_is_processed() -> None:
    scheduler, recorder, rows = recorded()
    add(scheduler, "a")
    taken = schedule_round(scheduler)
    recorder.read()
    assert recorder.has_open_rounds and "rounds" not in rows.tables
    update_round(scheduler, taken)
    recorder.read()
    assert not recorder.has_open_rounds and len(rows.tables["rounds"]) == 1


def test_steps_without_work_are_counted_for_the_round_behind_them() -> None:
    scheduler, recorder, rows = recorded()
    for _ in range(3):
        run_round(scheduler)
    add(scheduler, "a")
    run_round(scheduler)
    run_round(scheduler)
    recorder.read()
    place = -5  # of num_empty_steps in table rounds
    assert [row[place] for row in rows.tables["rounds"]] == [3, 0]


def test_what_a_reset_preempts_is_no_preemption_of_a_round() -> None:
    scheduler, recorder, rows = recorded()
    add(scheduler, "a")
    run_round(scheduler)
    assert scheduler.reset_prefix_cache(reset_running_requests=True)
    run_round(scheduler)
    recorder.read()
    assert details(rows, "preempted") == [(None, "prefix_cache_reset")]
    assert details(rows, "prefix_cache_reset") == [(None, "done")]
    assert [row[22] for row in rows.tables["rounds"]] == [0, 0], "num_preempted"


def test_a_reset_that_is_not_told_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control arm: the recorder does not hear of the beginning of a reset."""
    monkeypatch.setattr(RoundRecorder, "reset_started", lambda self: None)
    with pytest.raises(AssertionError):
        test_what_a_reset_preempts_is_no_preemption_of_a_round()


def test_requests_that_have_not_ended_get_their_rows() -> None:
    scheduler, recorder, rows = recorded()
    add(scheduler, "a", max_tokens=1)
    add(scheduler, "b")
    for _ in range(3):
        run_round(scheduler)
    recorder.end_requests()
    recorder.read()
    outcomes = {"finished", "unfinished"}
    said = {row[1]: next(value for value in row if value in outcomes) for row in rows.tables["requests"]}
    assert said == {"a": "finished", "b": "unfinished"}
