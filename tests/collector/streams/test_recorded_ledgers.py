"""Both ledgers close on recorded random streams, sync and async, with preemptions, aborts and resets of the cache.

What the recorder says of each request is compared with counts that do not come from it (``observed_streams.py``).
"""

import functools
import gc
import os
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

import vllm
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.collector.vllm_adapters.versions import version_pair
from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest, read_manifest, write_manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.collector.streams.observed_streams import POLICIES, StreamReport, StreamRun
from tests.collector.streams.random_streams import draw_shape, draw_stream
from tests.scheduler_harness.construction import build_scheduler
from tests.scheduler_harness.driving import output_digest
from tests.schema.views.test_identities import broken_identities

NUM_STREAMS = max(2, int(os.environ.get("RADIXFLOW_NUM_STREAMS", "100")) // 50)
NUM_REQUESTS = 40
PRECISE = ("radix+precise", "radixflow+precise")
EVERY = [policy for policy in POLICIES if policy != "stock" and (policy in PRECISE or "precise" not in policy)]
FEW = ("radix", "radixflow", "radixflow+frag", "radix+precise")
RECORDED = EVERY if "RADIXFLOW_NUM_STREAMS" in os.environ else FEW
"""All policies where ``make test-long`` asks for many streams."""


@dataclass
class Recorded:
    """A stream, what was recorded of it, and what was counted beside."""

    path: Path
    report: StreamReport
    resets: list[bool]
    """Whether each reset of the prefix cache was done."""
    said: list[dict[str, Any]]
    """All that schedule() said."""

    @functools.cached_property
    def connection(self) -> Any:
        return open_runs([self.path])

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql).fetchall()  # type: ignore[no-any-return]


def serve(scheduler: Any, offers: Any, seed: int) -> tuple[StreamReport, list[bool], list[dict[str, Any]]]:
    """Serve a stream to its end; now and then the prefix cache is reset, every other time with preemptions."""
    stream, resets, said = StreamRun(scheduler, offers, listens=False), [], []
    rng = random.Random(seed + 1)
    while not stream.is_over:
        if rng.random() < 0.03:
            resets.append(scheduler.reset_prefix_cache(reset_running_requests=rng.random() < 0.5))
        said.append(output_digest(stream.step()))
        assert len(said) < 50_000
    return stream.report, resets, said


@functools.cache
def recorded(policy: str, seed: int) -> Recorded:
    """A random stream under a policy; equal seeds give equal streams, every other one is scheduled asynchronously."""
    rng = random.Random(seed)
    shape = draw_shape(rng)
    offers = draw_stream(rng, shape, NUM_REQUESTS)
    path = Path(tempfile.mkdtemp(prefix="ledgers-")) / "run"
    create_run(path, Manifest("e", "s", policy, engine_arguments={"max_num_seqs": shape["max_num_seqs"]}, probe="full"))
    scheduler = build_scheduler(
        RecordedAsyncScheduler if seed % 2 else RecordedScheduler, async_scheduling=seed % 2 == 1,
        additional_config={"radixflow": {"policy": policy, "run_directory": str(path), "probe": "full"}}, **shape,
    )  # fmt: skip
    recorder = scheduler.listener
    report, resets, said = serve(scheduler, offers, seed)
    scheduler.shutdown()
    manifest = read_manifest(path)
    manifest.state, manifest.tables = "complete", dict(recorder._writer.rows_written)
    write_manifest(path, manifest)
    gc.collect()  # schedulers are cycles of some megabytes each
    return Recorded(path, report, resets, said)


@pytest.mark.parametrize("policy", RECORDED)
def test_both_ledgers_close_and_agree_with_what_schedule_said(policy: str) -> None:
    for seed in range(NUM_STREAMS):
        run = recorded(policy, seed)
        assert check_run(run.path) == []
        assert broken_identities(run.connection) == {}
        found = run.query("""
            SELECT request_id, outcome, coalesce(num_reused_tokens, 0), num_scheduled_tokens, num_output_tokens
            FROM requests""")
        assert len(found) == len(run.report.lives) == NUM_REQUESTS
        for request_id, outcome, num_reused, num_scheduled, num_output in found:
            life = run.report.lives[request_id]
            assert (outcome, num_scheduled) == (life.outcome, life.scheduled), request_id
            if outcome == "finished":
                assert num_output == life.num_output_tokens
                assert num_reused == min(life.reused, life.num_prompt_tokens)


REPLAYED = """
    SELECT COLUMNS(* EXCLUDE (num_output_tokens)) FROM {table} ORDER BY request"""


@pytest.mark.parametrize("policy", RECORDED)
def test_requests_can_be_told_from_what_happened_to_them(policy: str) -> None:
    """What a repair makes of a killed run: here every request has its row as well, and both must be the same."""
    for seed in range(NUM_STREAMS):
        run = recorded(policy, seed)
        replayed, written = (run.query(REPLAYED.format(table=table)) for table in ("replayed_requests", "requests"))
        assert replayed == written
        other_outputs = run.query("""
            SELECT requests.request_id FROM replayed_requests AS replayed JOIN requests USING (request)
            WHERE replayed.num_output_tokens <> requests.num_output_tokens AND requests.outcome = 'finished'""")
        assert other_outputs == []


@pytest.mark.parametrize("policy", ["radix", "radixflow"])
def test_resets_and_aborts_are_events(policy: str) -> None:
    for seed in range(NUM_STREAMS):
        run = recorded(policy, seed)
        resets = run.query("SELECT detail FROM events WHERE event = 'prefix_cache_reset' ORDER BY time_ns")
        assert [detail for (detail,) in resets] == ["done" if done else "refused" for done in run.resets]
        ((preempted, of_resets),) = run.query("""
            SELECT count(*), count(*) FILTER (detail = 'prefix_cache_reset') FROM events WHERE event = 'preempted'""")
        assert run.query("SELECT sum(num_preemptions) FROM requests") == [(preempted,)]
        assert run.query("SELECT sum(num_preempted) FROM rounds")[0][0] <= preempted - of_resets
        for event in ("finished", "aborted"):
            ended = f"SELECT request FROM events WHERE event = '{event}' ORDER BY 1"
            assert run.query(ended) == run.query(f"SELECT request FROM requests WHERE outcome = '{event}' ORDER BY 1")


def test_the_streams_reach_what_matters() -> None:
    runs = [recorded("radix", seed) for seed in range(NUM_STREAMS)]
    assert {done for run in runs for done in run.resets} == {True, False}
    for sql in (
        "SELECT count(*) FROM events WHERE detail = 'prefix_cache_reset' AND event = 'preempted'",
        "SELECT count(*) FROM requests WHERE outcome = 'aborted'",
        "SELECT sum(num_repeated_tokens) FROM requests",
        "SELECT sum(num_preempted) FROM rounds",
    ):
        assert sum(run.query(sql)[0][0] for run in runs) > 0, sql


FENCES = """
    SELECT
        count(*), count(completed_ns),
        count(*) FILTER (completed_ns IS DISTINCT FROM
            if(published.update_end_ns <= waiting.schedule_start_ns, published.update_end_ns, NULL))
    FROM awaited_states JOIN rounds AS published ON published.round = published_round
    JOIN rounds AS waiting ON waiting.round = awaited_states.round"""


def test_under_async_scheduling_a_published_state_is_complete_once_its_output_was_processed() -> None:
    """Its round number says no such thing: that of the round before is in flight when the next one is scheduled."""
    runs = {is_async: [recorded("radix", seed) for seed in range(int(is_async), 8, 2)] for is_async in (False, True)}
    for is_async, of_mode in runs.items():
        num_states, num_completed, num_wrong = map(sum, zip(*(run.query(FENCES)[0] for run in of_mode), strict=True))
        in_flight = [
            run.query("SELECT count(*), count(*) FILTER (is_in_flight) FROM restored_states") for run in of_mode
        ]
        num_restored, num_in_flight = map(sum, zip(*(counts[0] for counts in in_flight), strict=True))
        print(f"async {is_async}: {num_states} published states awaited, {num_completed} of them complete;"
              f" {num_restored} restored, {num_in_flight} of them in flight")  # fmt: skip
        assert num_wrong == 0 and num_restored > 0
        assert (num_in_flight > 0) == is_async
        if version_pair(vllm.__version__) == (0, 32):  # the others mark no published state again
            assert num_states > 0 and (num_completed < num_states) == is_async


@pytest.mark.parametrize("is_async", [False, True])
def test_recording_changes_no_decision(is_async: bool) -> None:
    seed = int(is_async)
    rng = random.Random(seed)
    shape = draw_shape(rng)
    offers = draw_stream(rng, shape, NUM_REQUESTS)
    native = build_scheduler(AsyncScheduler if is_async else Scheduler, async_scheduling=is_async, **shape)
    assert serve(native, offers, seed)[2] == recorded("radix", seed).said


def test_a_wrong_ledger_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a recorder that takes repeated tokens of a reset for new ones."""
    monkeypatch.setattr("radixflow.collector.instrumentation.row_making.request_lives.max", lambda *_: 0, raising=False)
    recorded.cache_clear()
    runs = [recorded("radix", seed) for seed in range(NUM_STREAMS)]
    recorded.cache_clear()
    assert any("ledger" in str(fault) for run in runs for fault in check_run(run.path))
