"""A recorded scheduler without a model that can be brought to a standstill, and a count of its steps by hand."""

from __future__ import annotations

import random
from itertools import groupby
from pathlib import Path
from typing import Any

from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest, read_manifest, write_manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.scheduler_harness import build_scheduler, make_request
from tests.scheduler_harness.driving import Round, schedule_round, update_round

SHAPE: dict[str, Any] = {
    "block_size": 16, "max_num_seqs": 8, "max_num_batched_tokens": 64, "num_blocks": 40, "max_model_len": 4096,
}  # fmt: skip


class StalledLab:
    """Drives a recorded scheduler step by step, and notes around schedule() what it finds, without the recorder.

    Args:
        path: Where to record.
        policy: The policy.
        is_async: Whether an output is processed one step later.
        shape: Replaces what is in ``SHAPE``.

    Attributes:
        steps: Of each step the round before it, whether it scheduled something, waiting and running requests, rounds
            in flight, free blocks, and how many requests it preempted.
    """

    def __init__(self, path: Path, policy: str = "radix", is_async: bool = False, **shape: Any) -> None:
        self.path = path
        shape = SHAPE | shape
        limits = {name: shape[name] for name in ("max_num_seqs", "max_num_batched_tokens")}
        model = {"name": "made", "block_size": shape["block_size"], "is_hybrid": True}
        create_run(path, Manifest("e", "s", policy, probe="full", engine_arguments=limits, model=model))
        settings = {"policy": policy, "run_directory": str(path), "probe": "full"}
        scheduler_cls: Any = RecordedAsyncScheduler if is_async else RecordedScheduler
        self.scheduler: Any = build_scheduler(
            scheduler_cls, async_scheduling=is_async, additional_config={"radixflow": settings}, **shape
        )
        self.recorder = self.scheduler.listener
        self.steps: list[tuple[int, bool, int, int, int, int, int]] = []
        self._is_async = is_async
        self._in_flight: list[Round] = []
        self._num_rounds = 0
        self._random = random.Random(0)

    def add(self, name: str, num_tokens: int, **more: Any) -> Any:
        prompt = [self._random.randrange(5, 500) for _ in range(num_tokens)]
        request = make_request(self.scheduler, name, prompt, **more)
        self.scheduler.add_request(request)
        return request

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            scheduler, before = self.scheduler, self._num_preemptions()
            in_flight = sum(bool(taken[0].num_scheduled_tokens) for taken in self._in_flight)
            taken = schedule_round(scheduler)
            found_work = bool(taken[0].num_scheduled_tokens)
            queued, running = len(list(scheduler.waiting_requests())), len(scheduler.running)
            free = scheduler.kv_cache_manager.block_pool.get_num_free_blocks()
            preempted = self._num_preemptions() - before
            self.steps.append((self._num_rounds, found_work, queued, running, in_flight, free, preempted))
            self._num_rounds += found_work
            self._in_flight.append(taken)
            while len(self._in_flight) > self._is_async:
                update_round(self.scheduler, self._in_flight.pop(0))

    def recount(self) -> list[tuple[int, ...]]:
        """Stalls as counted here: length, round before, waiting, running, in flight, free blocks."""
        stalls = []
        for step, same in groupby(self.steps):
            before, found_work, waiting, running, in_flight, free, _ = step
            if not found_work and (waiting or running):
                stalls.append((len(list(same)), before, waiting, running, in_flight, free))
        return stalls

    def _num_preemptions(self) -> int:
        return sum(request.num_preemptions for request in self.scheduler.requests.values())

    @property
    def num_empty(self) -> int:
        return sum(not found_work for _, found_work, *_ in self.steps)

    def close(self) -> StalledLab:
        self.scheduler.shutdown()
        assert not self.recorder.is_broken
        manifest = read_manifest(self.path)
        manifest.state, manifest.tables = "complete", dict(self.recorder._writer.rows_written)
        write_manifest(self.path, manifest)
        return self

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with open_runs([self.path]) as connection:
            return connection.execute(query).fetchall()

    def stalls(self) -> list[tuple[Any, ...]]:
        """As :meth:`recount`, from the table."""
        return self.ask("""
            SELECT num_steps, coalesce(round_before, 0), num_waiting, num_running, num_rounds_in_flight, num_free_blocks
            FROM stalls ORDER BY start_ns""")

    def reasons(self) -> list[tuple[Any, ...]]:
        return self.ask("SELECT stop_reason, stop_cause, head_request_id, num_steps FROM stall_times ORDER BY start_ms")
