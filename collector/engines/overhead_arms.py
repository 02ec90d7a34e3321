"""Measures what recording costs: serves the same stream under each way of recording, repeatedly, on one engine."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from radixflow.collector.engines.in_process_engine import InProcessEngine, RoundCost
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.spans.component_times import WorkerComponents
from radixflow.collector.workloads.offered_request import OfferedRequest
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.writing.segment_writer import SegmentWriter

CALIBRATION_ROUNDS = 2_000
_ROWS = ("rounds", "rows", "requests")
_VISITS = (*_ROWS, "visits", "awaited_states", "events")
_ALL = (*_VISITS, "spans")


@dataclass(frozen=True)
class RecordingArm:
    """One way of recording.

    Attributes:
        name: As in the report.
        settings: Settings of the recorder besides the run directory; None where nothing is recorded.
        is_observed: Whether the scheduler is our subclass with its hooks; if not, it is vLLM's own class.
    """

    name: str
    settings: dict[str, Any] | None = None
    is_observed: bool = True


ARMS = (
    RecordingArm("stock", is_observed=False),
    RecordingArm("radix, recording off"),
    RecordingArm("rows only", {"probe": "off", "tables": _ROWS, "nvtx": False}),
    RecordingArm("+ visits and events", {"probe": "blocked", "tables": _VISITS, "nvtx": False}),
    RecordingArm("+ spans", {"probe": "blocked", "tables": _ALL, "nvtx": False}),
    RecordingArm("+ full probe", {"probe": "full", "tables": _ALL, "nvtx": False}),
    # Without a tool no ranges are made, whatever is asked for; this process has one, so it is not asked for.
    RecordingArm("+ NVTX, no tool", {"probe": "full", "tables": _ALL, "nvtx": False}),
    RecordingArm("+ NVTX, null tool", {"probe": "full", "tables": _ALL, "nvtx": True}),
)


@dataclass(frozen=True)
class Stored:
    """What a run holds after its small segments were merged.

    Attributes:
        num_rows: Rows of all tables.
        column_bytes: Bytes of their columns (zstd).
        file_bytes: Bytes of the files: the columns, and what each file says of itself, however short it is.
    """

    num_rows: int
    column_bytes: int
    file_bytes: int


@dataclass
class ArmCosts:
    """What one arm cost, repetition by repetition.

    Attributes:
        arm: The arm.
        rounds: The costs of the rounds of each repetition.
        writer_ns: CPU time of the writing threads in each repetition, up to the end of its stream.
        stored: Of each repetition, what its run holds.
    """

    arm: RecordingArm
    rounds: list[list[RoundCost]] = field(default_factory=list)
    writer_ns: list[int] = field(default_factory=list)
    stored: list[Stored] = field(default_factory=list)


def measure(
    engine: InProcessEngine, arms: Sequence[RecordingArm], requests: Sequence[OfferedRequest], repeats: int,
    folder: Path, on_progress: Callable[[str], None],
) -> list[ArmCosts]:  # fmt: skip
    """Serve the stream under every arm in turn, ``repeats`` times, after one turn that is not counted.

    Args:
        engine: Serves it.
        arms: The arms; the first one is what the others are compared with.
        requests: The stream. One half arrives one by one, a request a step, the other half at once.
        repeats: How many times each arm serves the stream, besides the first time, which is not counted.
        folder: Where runs may be written.
        on_progress: Told what is being done.

    Raises:
        RadixflowError: An arm decided other rounds than the first one, so that nothing can be compared.
    """
    half = len(requests) // 2
    steps = [*range(half), *[half] * (len(requests) - half)]
    costs = [ArmCosts(arm) for arm in arms]
    for turn in range(repeats + 1):
        for number in range(len(arms)):
            at = (number + turn) % len(arms)  # so that no arm always follows the same one
            on_progress(f"turn {turn} of {repeats}: {arms[at].name}")
            _serve(engine, costs[at], requests, steps, folder / f"{turn}-{at}", is_counted=turn > 0)
    _require_equal_rounds(costs)
    return costs


def _serve(
    engine: InProcessEngine, costs: ArmCosts, requests: Sequence[OfferedRequest], steps: Sequence[int], run: Path,
    is_counted: bool,
) -> None:  # fmt: skip
    from vllm.v1.core.sched.scheduler import Scheduler

    from radixflow.collector.instrumentation.schedulers import RecordedScheduler

    arm = costs.arm
    config: dict[str, Any] = {}
    if arm.is_observed:
        config["radixflow"] = {"policy": "radix"}
    if arm.settings is not None:
        create_run(run, Manifest("overhead", "stream", "radix"))
        config["radixflow"] |= arm.settings | {"run_directory": str(run)}
    scheduler = engine.new_scheduler(RecordedScheduler if arm.is_observed else Scheduler, config)
    settings = RecorderSettings.from_config(scheduler.vllm_config)
    if settings is not None and settings.records("spans"):
        engine.worker.record_spans(settings)
    rounds = engine.serve(scheduler, requests, steps)
    writer_ns = _cpu_of_writers()
    engine.worker.stop_recording_spans()
    scheduler.shutdown()
    if is_counted:
        costs.rounds.append(rounds)
        costs.writer_ns.append(writer_ns)
        if settings is not None:
            costs.stored.append(_stored(run))


def _cpu_of_writers() -> int:
    """CPU time of the writing threads that live now (ns)."""
    writers = [thread for thread in threading.enumerate() if thread.name.startswith("radixflow-")]
    clocks = [time.pthread_getcpuclockid(thread.ident) for thread in writers if thread.ident is not None]
    return sum(time.clock_gettime_ns(clock) for clock in clocks)


def _stored(run: Path) -> Stored:
    files = [(path, pq.read_metadata(path)) for path in run.glob("*/*.parquet")]
    chunks = [
        file.row_group(group).column(column)
        for _, file in files
        for group in range(file.num_row_groups)
        for column in range(file.num_columns)
    ]
    return Stored(
        sum(file.num_rows for _, file in files),
        sum(chunk.total_compressed_size for chunk in chunks),
        sum(path.stat().st_size for path, _ in files),
    )


def cost_of_worker_calls(folder: Path) -> float:
    """Measure the CPU time (us) of the worker's recorder for one round of five components, in a loop of its own.

    Within a served stream it is too short to be told from noise.

    Args:
        folder: Where a run may be written.
    """
    create_run(folder, Manifest("overhead", "worker", "radix"))
    components = WorkerComponents(SegmentWriter(folder, "worker0", maximum_pending_rows=10**9), 0)
    times = []
    for number in range(1, CALIBRATION_ROUNDS + 1):
        started_ns = time.thread_time_ns()
        components.start_round(number)
        for name in ("execute", "restore", "forward"):
            components.begin(name)
        for _ in range(3):
            components.end()
        components.begin("sample")
        components.end()
        times.append(time.thread_time_ns() - started_ns)
    components.close()
    return statistics.median(times) / 1e3


def _require_equal_rounds(costs: Sequence[ArmCosts]) -> None:
    expected = [cost.num_rows for cost in costs[0].rounds[0]]
    for each in costs:
        for rounds in each.rounds:
            if [cost.num_rows for cost in rounds] != expected:
                raise RadixflowError(
                    f"{each.arm.name} decided other rounds than {costs[0].arm.name}; costs cannot be compared.",
                    ExitCode.ENGINE,
                )
