"""The sender keeps its times whatever the engine does, and every request has one fate."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from radixflow.collector.engines.offer_log import OfferLog
from radixflow.collector.engines.stream_client import EngineFailure, RefusedRequest, send_stream
from radixflow.collector.workloads.offered_request import OfferedRequest
from radixflow.collector.workloads.prompt_limits import Rejection
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from radixflow.schema.writing.segment_writer import SegmentWriter


def request(number: int, offset_ms: float = 0) -> OfferedRequest:
    return OfferedRequest(f"r{number}", number, 0, "d", "cold", "shuffled", (5, 6), 2, int(offset_ms * 1e6))


class Sleeper:
    """An engine that takes its time: two outputs, with a pause before each."""

    def __init__(self, pause: float = 0.0, refuses: str = "", dies_at: str = "") -> None:
        self.pause, self.refuses, self.dies_at = pause, refuses, dies_at

    async def generate(self, request: OfferedRequest) -> AsyncIterator[list[int]]:
        if request.request_id == self.refuses:
            raise RefusedRequest("too odd.")
        if request.request_id == self.dies_at:
            raise EngineFailure("gone.")
        for token in (7, 8):
            await asyncio.sleep(self.pause)
            yield [token]


def send(tmp_path: Path, engine: Sleeper, requests: list[OfferedRequest]) -> tuple[list[dict[str, object]], str | None]:
    """The rows of ``offers`` after sending, and the failure of the engine."""
    path = tmp_path / "run"
    create_run(path, Manifest("e", "s", "stock"))
    failure = None
    with SegmentWriter(path, "client") as writer:
        log = OfferLog(writer)
        offers = log.expect(requests, time.monotonic_ns())
        try:
            asyncio.run(send_stream(engine, offers, log))
        except EngineFailure as error:
            failure = str(error)
        log.end_all("failed", "the engine failed")
    tables = [pq.read_table(segment) for segment in RunDirectory(path).segments("offers")]
    return [row for table in tables for row in table.to_pylist()], failure


def test_times_are_ordered_and_outputs_are_counted(tmp_path: Path) -> None:
    rows, _ = send(tmp_path, Sleeper(pause=0.005), [request(number, 10 * number) for number in range(3)])
    for row in rows:
        assert row["outcome"] == "completed"
        assert row["offered_ns"] <= row["sent_ns"] < row["first_output_ns"] < row["completed_ns"]  # type: ignore[operator]
        assert (row["num_output_tokens"], row["first_token_id"]) == (2, 7)


def test_a_slow_engine_does_not_slow_the_sender(tmp_path: Path) -> None:
    rows, _ = send(tmp_path, Sleeper(pause=0.2), [request(number, 20 * number) for number in range(5)])
    assert max(row["sent_ns"] - row["offered_ns"] for row in rows) < 100e6  # type: ignore[operator]


def test_a_refused_request_leaves_the_others_alone(tmp_path: Path) -> None:
    rows, failure = send(tmp_path, Sleeper(refuses="r1"), [request(number) for number in range(3)])
    fates = {row["request_id"]: (row["outcome"], row["outcome_reason"]) for row in rows}
    assert fates == {"r0": ("completed", None), "r1": ("failed", "too odd."), "r2": ("completed", None)}
    assert failure is None


def test_a_dead_engine_ends_the_sending_and_every_request_has_one_fate(tmp_path: Path) -> None:
    start = time.monotonic()
    rows, failure = send(tmp_path, Sleeper(pause=0.01, dies_at="r1"), [request(0), request(1, 100), request(2, 60_000)])
    assert time.monotonic() - start < 30  # it did not wait for the last request
    assert failure == "gone."
    assert sorted((row["request_id"], row["outcome"], row["sent_ns"] is None) for row in rows) == [
        ("r0", "completed", False), ("r1", "failed", False), ("r2", "failed", True),
    ]  # fmt: skip


@pytest.mark.parametrize("reason", ["Request r9 is rejected: too long."])
def test_rejected_requests_are_written_and_never_sent(tmp_path: Path, reason: str) -> None:
    create_run(tmp_path / "run", Manifest("e", "s", "stock"))
    with SegmentWriter(tmp_path / "run", "client") as writer:
        OfferLog(writer).reject([Rejection(request(9, 5), reason)], start_ns=100)
    row = pq.read_table(RunDirectory(tmp_path / "run").segments("offers")[0]).to_pylist()[0]
    assert (row["outcome"], row["outcome_reason"], row["offered_ns"]) == ("rejected", reason, 5_000_100)
    assert row["sent_ns"] is None
    assert row["num_output_tokens"] is None
