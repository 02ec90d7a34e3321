"""Kills recordings of the real scheduler at random moments: ``python killed_worlds.py FOLDER NUM_KILLS FLUSH_SECONDS``.

Each recording is a process of its own, forked from this one so that vLLM is imported once, that drives a scheduler
through random traffic with the recorder on and no model. It notes every row that the recorder learns of in a file that
survives it. Prints the moment of each kill (monotonic ns), a line each; recording ``n`` writes ``FOLDER/n/run``.
"""

import os
import random
import signal
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from radixflow.collector.instrumentation.notes.round_attribute import ROUND_ATTRIBUTE
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.writing import segment_writer as table_writer
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests.scheduler_harness import SchedulerWorld, WorldShape

NOTE = struct.Struct("<qqhh")
"""One call of a hook: monotonic ns, ns that the writer's thread has waited for a processor, table, rows."""
TABLES = tuple(ALL_TABLES)
AT_ONCE = 4
POLICIES = ("radix", "radixflow", "radixflow-immediate")
ROUND_SECONDS = 0.01


HOOKS: dict[str, tuple[str, Callable[[RoundRecorder, Any], int]]] = {
    "registered": ("registrations", lambda *_: 1),
    "_note_step": ("rows", lambda _, scheduled: len(scheduled)),
    "update_ended": (
        "rounds",
        lambda recorder, output: int(getattr(output, ROUND_ATTRIBUTE, 0) in recorder._in_flight),
    ),
    "finished": ("requests", lambda *_: 1),
}
"""Where the recorder learns of a row: its table, and how many there are."""


def note_hooks(path: Path) -> None:
    """Note what happens, before the recorder does."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for hook, (table, count) in HOOKS.items():
        setattr(RoundRecorder, hook, noted(file, getattr(RoundRecorder, hook), table, count))


def noted(file: int, hook: Any, table: str, count: Any) -> Any:
    """Return a hook that notes its rows first."""

    def note(self: RoundRecorder, *given: Any) -> None:
        thread = self._writer._thread.native_id
        waited_ns = int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[1])
        os.write(file, NOTE.pack(time.monotonic_ns(), waited_ns, TABLES.index(table), count(self, given[0])))
        hook(self, *given)

    return note


def build_worlds() -> list[SchedulerWorld]:
    """Schedulers without requests, of several policies, synchronous and asynchronous; nobody records them yet."""
    worlds = []
    for number in range(2 * len(POLICIES)):
        is_async = number % 2 == 1
        shape = WorldShape(
            block_size=16, hash_block_size=None, num_blocks=80, max_num_seqs=8, max_num_batched_tokens=64,
            max_prompt_tokens=96, arrival_rate=1.5, async_scheduling=is_async,
        )  # fmt: skip
        settings = {"radixflow": {"policy": POLICIES[number % len(POLICIES)]}}
        scheduler_cls = RecordedAsyncScheduler if is_async else RecordedScheduler
        worlds.append(SchedulerWorld(shape, random.Random(number), scheduler_cls, settings))
    return worlds


def record(world: SchedulerWorld, folder: Path, seed: int) -> None:
    """Record random traffic for ever."""
    scheduler: Any = world.scheduler
    policy = scheduler.radixflow_policy.name
    create_run(folder / "run", Manifest("e", "s", policy, engine_arguments={"max_num_seqs": 8}))
    note_hooks(folder / "notes")
    writer = SegmentWriter(folder / "run", "engine")
    scheduler.listener = RoundRecorder(scheduler, writer, RecorderSettings(folder / "run", "full"))
    world._rng = random.Random(seed)
    for _ in world.states(10**9):
        time.sleep(ROUND_SECONDS)


def start(world: SchedulerWorld, folder: Path, seed: int) -> int:
    """Fork a recording and return its process id once it has begun."""
    folder.mkdir()
    child = os.fork()
    if child == 0:
        try:
            record(world, folder, seed)
        finally:
            os._exit(1)
    notes = folder / "notes"
    while not (notes.exists() and notes.stat().st_size):
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "the recording ended by itself"
        time.sleep(0.005)
    return child


def main(folder: Path, num_kills: int, flush_seconds: float) -> None:
    """Start some recordings at a time and kill each at a random moment of its first seconds."""
    table_writer.FLUSH_SECONDS = flush_seconds
    SegmentWriter.__init__.__defaults__ = (None, table_writer.MAXIMUM_PENDING_ROWS, flush_seconds, True)  # type: ignore[misc]
    rng, worlds = random.Random(num_kills), build_worlds()
    for first in range(0, num_kills, AT_ONCE):
        seeds = range(first, min(first + AT_ONCE, num_kills))
        children = {seed: start(worlds[seed % len(worlds)], folder / str(seed), seed) for seed in seeds}
        begun = time.monotonic()
        moments = sorted((begun + rng.uniform(0, 3 * flush_seconds), seed) for seed in children)
        for moment, seed in moments:
            time.sleep(max(0.0, moment - time.monotonic()))
            print(seed, time.monotonic_ns(), flush=True)
            os.kill(children[seed], signal.SIGKILL)
            os.waitpid(children[seed], 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
