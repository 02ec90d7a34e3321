"""The arms of the audit: every policy on one real engine, vLLM's own class, and an arm without the same-step check."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from unittest.mock import patch

from vllm.v1.core.single_type_kv_cache_manager import MambaManager

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.policies.catalog import ALIASES, NATIVE, parse_policy
from tests.collector.outputs.answers import Answer
from tests.collector.outputs.evidence import Evidence, gathered
from tests.collector.outputs.in_process_engine import InProcessEngine, engine
from tests.collector.outputs.streams import StreamRequest

STOCK, NO_CACHE, CONTROL = "stock", "stock, no prefix cache", "no same-step check (control)"
Streams = dict[int, list[StreamRequest]]
"""Streams by seed."""


@dataclasses.dataclass(frozen=True)
class Geometry:
    """How the cache is cut: pools small enough that requests evict and preempt each other."""

    name: str
    num_blocks: int
    prefix_match_unit: int | None = None
    """Tokens of a hash block; smaller than a block: hits inside a block, and sub-block tails of states."""

    def options(self) -> dict[str, Any]:
        """Engine options with a prefix cache of this geometry."""
        unit = {} if self.prefix_match_unit is None else {"prefix_match_unit": self.prefix_match_unit}
        return unit | {
            "enable_prefix_caching": True, "mamba_cache_mode": "align", "num_gpu_blocks_override": self.num_blocks,
            "max_num_batched_tokens": 1024,
        }  # fmt: skip


WHOLE_BLOCKS = Geometry("whole blocks", num_blocks=36)
SUB_BLOCKS = Geometry("sub-block hits", num_blocks=30, prefix_match_unit=96)
GEOMETRIES = {geometry.name: geometry for geometry in (WHOLE_BLOCKS, SUB_BLOCKS)}


@dataclasses.dataclass(frozen=True)
class Arm:
    """What one arm answered to all streams."""

    answers: dict[int, dict[str, Answer]]
    """By seed and request."""
    evidence: Evidence


Arms = dict[str, Arm]
Report = Callable[[str], None]


def policy_names() -> list[str]:
    """The aliases that are ours."""
    return [name for name, (policy, _) in ALIASES.items() if policy.traversal != NATIVE]


def run_arms(geometry: Geometry, streams: Streams, precise: Iterable[str], report: Report) -> Arms:
    """Serve the streams in every arm of a geometry; one engine start for each scheduler class and way of marking.

    Args:
        geometry: Cut of the cache.
        streams: What to serve.
        precise: Policies to run with precise marks.
        report: Told about each arm.
    """
    arms: Arms = {}
    with engine(**geometry.options()) as stock:
        arms[STOCK] = _serve(stock, streams, STOCK, report)
    with engine(scheduler_cls=RadixFlowScheduler, **geometry.options()) as ours:
        for name in policy_names():
            ours.scheduler.follow(parse_policy(name))
            arms[name] = _serve(ours, streams, name, report)
        ours.scheduler.follow(parse_policy("radix"))
        with without_same_step_check() as evidence:
            arms[CONTROL] = _serve(ours, streams, CONTROL, report)
        arms[CONTROL].evidence.admitted_early = evidence.admitted_early
    marks = {"radixflow": {"policy": "radix+precise"}}
    with engine(scheduler_cls=RadixFlowScheduler, additional_config=marks, **geometry.options()) as exact:
        for name in precise:
            exact.scheduler.follow(parse_policy(f"{name}+precise"))
            arms[f"{name}+precise"] = _serve(exact, streams, f"{name}+precise", report)
    return arms


def serve_without_cache(running: InProcessEngine, streams: Streams, report: Report) -> Arm:
    """The same streams on an engine without a prefix cache: what batching alone does to the answers."""
    return _serve(running, streams, NO_CACHE, report)


def _serve(running: InProcessEngine, streams: Streams, name: str, report: Report) -> Arm:
    with gathered(running.scheduler) as evidence:
        answers = {seed: running.answer(stream) for seed, stream in streams.items()}
    report(f"{name}: {evidence.rounds} rounds, {evidence.blocked_visits} BLOCKED visits")
    return Arm(answers, evidence)


@contextlib.contextmanager
def without_same_step_check() -> Iterator[Evidence]:
    """Native code admits a consumer in the very step in which its state is being written."""
    native, evidence = MambaManager.get_num_blocks_to_allocate, Evidence()

    def unchecked(self: Any, request_id: str, num_tokens: int, hit: Any, *args: Any, **kwargs: Any) -> Any:
        marks = self.cached_blocks_this_step
        evidence.admitted_early += bool(hit) and hit[-1].block_hash in marks
        self.cached_blocks_this_step = set()
        try:
            return native(self, request_id, num_tokens, hit, *args, **kwargs)
        finally:
            self.cached_blocks_this_step = marks

    with patch.object(MambaManager, "get_num_blocks_to_allocate", unchecked):
        yield evidence
