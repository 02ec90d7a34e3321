"""Situations that people reported of vLLM's scheduler, recorded: what the run says of them; it checks clean."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vllm.config import SchedulerConfig
from vllm.v1.request import RequestStatus

from radixflow.collector.instrumentation.schedulers import RecordedScheduler
from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest, read_manifest, write_manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.scheduler_harness.connectors import CONNECTORS, PREFILLED_ELSEWHERE
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import run_round
from tests.scheduler_harness.features import HAS_CONNECTORS


class Recording:
    """A recorded scheduler without a model; ``shape`` as for `build_scheduler`."""

    def __init__(self, path: Path, policy: str, **shape: Any) -> None:
        self.path = path / "cases" / "stream" / policy
        limits = {name: shape[name] for name in ("max_num_seqs", "max_num_batched_tokens")}
        model = {"name": "none", "block_size": shape["block_size"], "is_hybrid": True}
        create_run(self.path, Manifest("cases", "stream", policy, probe="full", engine_arguments=limits, model=model))
        settings = {"policy": policy, "run_directory": str(self.path)}
        self.scheduler: Any = build_scheduler(RecordedScheduler, additional_config={"radixflow": settings}, **shape)
        self._rng = random.Random(0)

    def tokens(self, count: int) -> list[int]:
        return [self._rng.randrange(5, 500) for _ in range(count)]

    def add(self, name: str, prompt: list[int], **more: Any) -> Any:
        request = make_request(self.scheduler, name, prompt, **more)
        self.scheduler.add_request(request)
        return request

    def drain(self, most: int = 500) -> None:
        for _ in range(most):
            if not self.scheduler.requests:
                return
            run_round(self.scheduler)

    def close(self) -> None:
        self.scheduler.shutdown()
        manifest = read_manifest(self.path)
        manifest.state, manifest.tables = "complete", dict(self.scheduler.listener._writer.rows_written)
        write_manifest(self.path, manifest)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        return open_runs([self.path]).execute(query).fetchall()


SMALL = {"block_size": 16, "max_num_seqs": 8, "max_num_batched_tokens": 256, "num_blocks": 400, "max_model_len": 4096}


def test_rows_that_nobody_may_use_are_no_capacity(tmp_path: Path) -> None:
    if "max_num_active_seqs" not in {field.name for field in dataclasses.fields(SchedulerConfig)}:
        pytest.skip("this release has no limit of active requests")
    recording = Recording(tmp_path, "radix", max_num_active_seqs=2, **SMALL)
    for number in range(20):
        recording.add(f"request-{number}", recording.tokens(20), max_tokens=5)
    recording.drain()
    recording.close()
    assert recording.ask("SELECT DISTINCT row_capacity FROM rounds") == [(2,)]
    assert check_run(recording.path) == []


def test_a_request_preempted_in_a_step_that_becomes_no_round(tmp_path: Path) -> None:
    """A prompt near the pool's size is taken, dropped and taken again; some steps end with nothing scheduled."""
    shape = SMALL | {"max_num_seqs": 4, "max_num_batched_tokens": 64, "num_blocks": 40}
    recording = Recording(tmp_path, "radix", scheduler_reserve_full_isl=False, **shape)
    recording.add("near", recording.tokens(16 * 31), max_tokens=200)
    for number in range(3):
        recording.add(f"small-{number}", recording.tokens(20), max_tokens=10)
    recording.drain(600)
    recording.close()
    preempted = recording.ask("SELECT count(*), count(round) FROM events WHERE event = 'preempted'")[0]
    assert preempted[0] > preempted[1], "there was a preemption in a step without a round"
    assert check_run(recording.path) == []


class Grammar:
    """Stands for a compiled grammar, or for one that is still compiled."""

    def __init__(self, is_ready: bool) -> None:
        self.grammar = self if is_ready else None


def taken_with_grammars(path: Path, policy: str, is_ready: bool) -> tuple[list[str], Recording]:
    recording = Recording(path, policy, **(SMALL | {"block_size": 64, "max_num_batched_tokens": 1024}))
    document = recording.tokens(300)
    recording.add("producer", document + recording.tokens(5))
    recording.add("consumer", document + recording.tokens(6))
    for number in range(3):
        request = recording.add(f"structured-{number}", recording.tokens(40))
        request.status = RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR
        request.structured_output_request = Grammar(is_ready)
    recording.add("plain", recording.tokens(40))
    taken = list(recording.scheduler.schedule().num_scheduled_tokens)
    recording.close()
    return taken, recording


@pytest.mark.parametrize("is_ready", [True, False])
def test_the_probe_says_of_structured_requests_what_state_ready_does_with_them(tmp_path: Path, is_ready: bool) -> None:
    taken, probed = taken_with_grammars(tmp_path / "one", "radix", is_ready)
    truth, native = taken_with_grammars(tmp_path / "two", "radixflow-immediate", is_ready)
    assert probed.ask("SELECT rows_avoidable FROM rounds")[0][0] == len(truth) - len(taken) == (4 if is_ready else 1)
    reasons = "SELECT DISTINCT reason FROM visits WHERE outcome = 'other'"
    assert probed.ask(reasons) == native.ask(reasons) == ([] if is_ready else [("grammar",)])


@pytest.fixture
def loading(tmp_path: Path) -> Iterator[Recording]:
    shape = SMALL | {"kv_transfer_config": CONNECTORS["nixl"]}
    yield Recording(tmp_path, "radixflow-immediate", **shape)


@pytest.mark.skipif(not HAS_CONNECTORS, reason="refused with this release")
def test_requests_that_load_their_prompt_from_elsewhere(loading: Recording) -> None:
    blocks = [list(range(4))] * 4
    parameters = {"extra_args": {"kv_transfer_params": PREFILLED_ELSEWHERE | {"remote_block_ids": blocks}}}
    for number in range(3):
        loading.add(f"elsewhere-{number}", loading.tokens(60), max_tokens=3, sampling=parameters)
        loading.add(f"here-{number}", loading.tokens(60), max_tokens=3)
    loading.drain()
    loading.close()
    assert loading.ask("SELECT count(*) FROM requests WHERE outcome = 'finished'") == [(6,)]
    assert loading.ask("SELECT count(*) FROM visits WHERE reason = 'remote_kv'")[0][0] > 0
    assert check_run(loading.path) == []


def test_a_streaming_session(tmp_path: Path) -> None:
    recording = Recording(tmp_path, "radixflow-immediate", **SMALL)
    recording.add("session", recording.tokens(40), max_tokens=2, resumable=True)
    for more in (True, True, False):
        for _ in range(5):
            run_round(recording.scheduler)
        recording.add("session", recording.tokens(12), max_tokens=2, resumable=more)
    recording.drain()
    recording.close()
    assert recording.ask("SELECT count(*) FROM requests") == [(1,)]
    assert check_run(recording.path) == []
