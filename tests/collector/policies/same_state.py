"""One random state, several ways to schedule it: what each selects from the very same state."""

import dataclasses
import gc
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.row_making.request_lives import RequestLife
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.policies import RadixFlowAsyncScheduler, RadixFlowScheduler
from radixflow.collector.policies.catalog import parse_policy
from radixflow.collector.policies.rules import rules_of
from tests.scheduler_harness.cloning import clone
from tests.scheduler_harness.features import Features, FeatureWorld
from tests.scheduler_harness.worlds import SchedulerWorld, WorldShape

NUM_STATES = int(os.environ.get("RADIXFLOW_NUM_STATES", "200"))
"""Random states a property is checked on; ``make test-properties`` asks for many more."""
STATES_A_WORLD = 25


class RowList:
    """Takes the rows of a recorder in memory, where a test can look at them."""

    def __init__(self) -> None:
        self.tables: dict[str, list[tuple[Any, ...]]] = {}
        self.faults: list[str] = []

    def append(self, table: str, rows: Any) -> None:
        self.tables.setdefault(table, []).extend(rows if isinstance(rows, list) else [rows])

    def pull(self, table: str, source: Any) -> None:
        """Rows that still grow are not looked at."""

    def describe(self, **facts: Any) -> None:
        """Nobody asks for facts."""

    def describe_by(self, source: Any) -> None:
        """Nor for those that change."""

    def collect_by(self, collect: Any) -> None:
        """A test reads the notes when it wants the rows."""

    def close(self) -> None:
        """Nothing is open."""


@dataclasses.dataclass
class RecordedStep:
    """One schedule() call of a recorded scheduler."""

    scheduled: dict[str, int]
    scheduler: Any
    recorder: RoundRecorder
    rows: RowList

    @property
    def ready(self) -> dict[str, int]:
        """Requests that the probe calls READY, with the tokens that they would take, in order."""
        visits = self.recorder._notes.all_visits()
        return {visit.request.request_id: visit.num_tokens for visit in visits if visit.outcome == "ready"}

    @property
    def blocked(self) -> set[str]:
        """Requests found BLOCKED by the scan or the probe."""
        return {v.request.request_id for v in self.recorder._notes.all_visits() if v.outcome == "blocked"}

    @property
    def round_row(self) -> list[Any] | None:
        """The row of table rounds, None for a step without work."""
        return self.recorder.maker.open_rounds.get(1)


def random_states(num_states: int, seed: int = 0, policy: str = "radix", **shape: Any) -> Iterator[Any]:
    """Schedulers in random reachable states under a policy; copy them with :func:`scheduled_by` or clone()."""
    num_seen = 0
    while num_seen < num_states:
        seed += 1
        rng = random.Random(seed)
        # Half of the worlds crowd: long queues behind few prefixes are where a scan stops early.
        crowd = {"arrival_rate": 4.0, "max_num_seqs": 16} if seed % 2 else {}
        world = SchedulerWorld(
            WorldShape.draw(rng, **(crowd | shape)), rng, RadixFlowScheduler, {"radixflow": {"policy": policy}}
        )
        for scheduler in world.states(min(STATES_A_WORLD, num_states - num_seen)):
            num_seen += 1
            yield scheduler
        gc.collect()  # schedulers are cycles of some megabytes each


OURS = (RadixFlowScheduler, RadixFlowAsyncScheduler)
NATIVE = (Scheduler, AsyncScheduler)


def feature_worlds(
    num_worlds: int, seed: int, policy: str, classes: tuple[Any, Any] = OURS, ample: bool = False, **fixed: Any
) -> Iterator[FeatureWorld]:
    """Worlds with random features under a policy; ``fixed`` are features that all of them have.

    ``classes`` are the scheduler for synchronous and the one for asynchronous worlds. An ``ample`` world has blocks
    and tokens enough that a scan rarely ends for want of them, and more often at a BLOCKED request.
    """
    for world_seed in range(seed, seed + num_worlds):
        rng = random.Random(world_seed)
        crowd = {"arrival_rate": 4.0, "max_num_seqs": 16} if world_seed % 2 or ample else {}
        if ample:
            crowd |= {"block_size": 16, "num_blocks": 600, "max_num_batched_tokens": 300}
            fixed = {"chunked_prefill": True, "long_prefill_token_threshold": 0, "max_num_active_seqs": None} | fixed
        shape = WorldShape.draw(rng, async_scheduling=world_seed % 5 == 0, **crowd)
        features = Features.draw(rng, shape.block_size, shape.max_num_seqs, **fixed)
        cls = classes[shape.async_scheduling]
        yield FeatureWorld(shape, features, rng, cls, {"radixflow": {"policy": policy}})
        gc.collect()


def random_feature_states(
    num_states: int, seed: int = 0, policy: str = "radix", **fixed: Any
) -> Iterator[FeatureWorld]:
    """Worlds with random features in random reachable states."""
    num_worlds = -(-num_states // STATES_A_WORLD)
    for world in feature_worlds(num_worlds, seed, policy, **fixed):
        for _ in world.states(STATES_A_WORLD):
            yield world


def scheduled_by(scheduler: Any, policy: str, throttle_prefills: bool = False) -> dict[str, int]:
    """What a policy selects from a state, in order; the state is not changed. Marks stay those of the scheduler."""
    twin = clone(scheduler)
    twin.rules = rules_of(parse_policy(policy))
    return dict(twin.schedule(throttle_prefills).num_scheduled_tokens)


def recorded_step(scheduler: Any, policy: str = "radix", throttle_prefills: bool = False) -> RecordedStep:
    """The same with a recorder and the full probe listening."""
    twin = clone(scheduler)
    twin.rules = rules_of(parse_policy(policy))
    rows = RowList()
    recorder = RoundRecorder(twin, rows, RecorderSettings(Path("unused"), "full"))  # type: ignore[arg-type]
    for number, request in enumerate(twin.requests.values()):
        recorder.maker.lives[request.request_id] = RequestLife(number, request.request_id, request.num_prompt_tokens, 0)
    twin.listener = recorder
    scheduled = dict(twin.schedule(throttle_prefills).num_scheduled_tokens)
    recorder.read()
    assert not recorder.is_broken, rows.faults
    return RecordedStep(scheduled, twin, recorder, rows)
