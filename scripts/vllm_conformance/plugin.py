"""A pytest plugin: vLLM's scheduler tests with a class of ours in the place of vLLM's, each scheduler recorded.

`CONFORMANCE_POLICY` names the policy (`stock` leaves everything as it is), `CONFORMANCE_REPORT` the JSON Lines file
that gets the outcome of each test and of the check of each recording, `CONFORMANCE_RUNS` the folder of the recordings.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
import vllm.v1.core.sched.async_scheduler as async_module
import vllm.v1.core.sched.scheduler as scheduler_module

from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.schema.checking.check import check_run
from radixflow.schema.errors import RadixflowError
from radixflow.schema.run_files.manifest import Manifest, read_manifest, write_manifest
from radixflow.schema.run_files.run_directory import create_run

POLICY = os.environ["CONFORMANCE_POLICY"]
REPORT = Path(os.environ["CONFORMANCE_REPORT"])
RUNS = Path(os.environ["CONFORMANCE_RUNS"])
recorded: list[tuple[Any, Path]] = []
numbers = itertools.count(1)


def report(**facts: Any) -> None:
    """Adds a line to the report."""
    with REPORT.open("a") as file:
        file.write(json.dumps(facts) + "\n")


def conforming(cls: type) -> type:
    """A recorded class that sets itself up as the test would have set up vLLM's."""

    class Conforming(cls):  # type: ignore[misc,valid-type]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            if hasattr(self, "recorded_path"):  # vLLM's diffusion scheduler derives from both of our classes
                super().__init__(*args, **kwargs)
                return
            config = kwargs["vllm_config"] if "vllm_config" in kwargs else args[0]
            path = RUNS / "conformance" / f"scheduler-{next(numbers)}" / POLICY
            shape = {
                "max_num_seqs": config.scheduler_config.max_num_seqs,
                "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
            }
            model = {"name": "conformance", "block_size": config.cache_config.block_size, "is_hybrid": False}
            create_run(path, Manifest("conformance", path.parent.name, POLICY, engine_arguments=shape, model=model))
            settings = {"policy": POLICY, "run_directory": str(path)}
            config.additional_config = {**(config.additional_config or {}), "radixflow": settings}
            self.recorded_path = path
            super().__init__(*args, **kwargs)
            recorded.append((self, path))

    Conforming.__name__, Conforming.__qualname__ = cls.__name__, cls.__qualname__
    return Conforming


if POLICY != "stock":
    ours, ours_async = conforming(RecordedScheduler), conforming(RecordedAsyncScheduler)
    scheduler_module.Scheduler, async_module.AsyncScheduler = ours, ours_async


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Small tensors only."""
    torch.set_num_threads(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    made = yield
    if made.when == "call" or made.outcome != "passed":
        outcome, words = made.outcome, ""
        if call.excinfo is not None:
            words = str(call.excinfo.value)[:300]
            if isinstance(call.excinfo.value, RadixflowError):
                outcome = "refused"
        report(test=item.nodeid, outcome=outcome, when=made.when, words=words)
    return made


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Ends and checks what the test recorded; a run without a row is no recording."""
    while recorded:
        scheduler, path = recorded.pop()
        if scheduler.listener is None:
            continue
        scheduler.listener.closed()
        manifest = read_manifest(path)
        manifest.state, manifest.tables = "complete", dict(scheduler.listener._writer.rows_written)
        write_manifest(path, manifest)
        faults = [str(fault) for fault in check_run(path)]
        report(recording=item.nodeid, faults=faults[:5])
