"""Whole streams on the real scheduler without a model, under a clock that moves by a stated model of a round.

What is counted does not come from the recorder: waits, overtakes and tokens are read from what schedule() said, so they
can be counted under vLLM's own class too; only blocked visits and holds need the hooks.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import RequestStatus

from radixflow.collector.policies.catalog import ALIASES
from radixflow.collector.policies.schedulers import RadixFlowAsyncScheduler, RadixFlowScheduler
from radixflow.collector.vllm_adapters.scan import Refusal, ScanListener
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import Round, schedule_round, update_round

MILLISECOND = 1_000_000
POLICIES = [*ALIASES, *(f"{alias}+precise" for alias in ALIASES if alias != "stock")]
MAXIMUM_EMPTY_STEPS = 5000


@dataclasses.dataclass(frozen=True)
class Offer:
    """One request of a stream: when it comes and, perhaps, when it is aborted (simulated ns)."""

    name: str
    prompt: tuple[int, ...]
    arrival_ns: int = 0
    max_tokens: int = 1
    priority: int = 0
    aborted_ns: int | None = None


@dataclasses.dataclass(frozen=True)
class RoundModel:
    """Duration of a step in ns: a fixed part and a part per scheduled token; an empty step is one poll of the engine.

    The default is of the order of a 4B hybrid on one data-centre GPU. Only ratios to the admission delays matter.
    """

    fixed_ns: int = 4 * MILLISECOND
    token_ns: int = 6_000
    empty_ns: int = MILLISECOND // 10

    def duration_ns(self, num_tokens: int) -> int:
        """Duration of a step that schedules this many tokens."""
        return self.fixed_ns + num_tokens * self.token_ns if num_tokens else self.empty_ns


class SimulatedClock:
    """Monotonic nanoseconds of the stream."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


@dataclasses.dataclass
class Life:
    """What one request went through.

    Overtakes are first selections of later arrivals while it stayed in the queue; that a preempted request comes back
    first is vLLM's rule and not counted.
    """

    number: int
    num_prompt_tokens: int
    arrived_round: int
    arrived_ns: int
    num_overtakes: int = 0
    num_overtaken_rounds: int = 0
    wait_rounds: int | None = None
    wait_ns: int | None = None
    covered: int = 0
    reused: int = 0
    scheduled: int = 0
    repeated: int = 0
    num_output_tokens: int = 0
    outcome: str = "unfinished"

    def add_row(self, start: int, end: int, from_waiting: bool) -> None:
        """Count a scheduled interval of positions; a request from the queue adopted everything before it."""
        if from_waiting:
            self.reused += max(0, start - self.covered)
            self.covered = max(self.covered, start)
        assert start <= self.covered, f"positions {self.covered} to {start} were never computed"
        self.scheduled += end - start
        self.repeated += max(0, min(end, self.covered) - start)
        self.covered = max(self.covered, end)


@dataclasses.dataclass
class StreamReport:
    """A whole stream under one policy."""

    lives: dict[str, Life] = dataclasses.field(default_factory=dict)
    num_rounds: int = 0
    num_empty_steps: int = 0
    num_rows: int = 0
    duration_ns: int = 0
    num_preemptions: int = 0
    deferrals: Counter[str] = dataclasses.field(default_factory=Counter)
    """Visits after which a request stayed queued, by reason (``blocked``, ``admission``, ``fragmentation`` ...)."""
    after_blocked: Counter[str] = dataclasses.field(default_factory=Counter)
    """What became of a blocked request in the round after: ``selected``, ``blocked`` or ``not_reached``."""
    unexplained: list[str] = dataclasses.field(default_factory=list)
    """Requests overtaken in a round in which nothing was seen to keep them queued; only counted with the hooks."""

    def total(self, name: str) -> int:
        """Sum of a counter over all requests."""
        return sum(getattr(life, name) for life in self.lives.values())

    def worst(self, name: str) -> int:
        """Greatest value of a counter over the requests that were selected at all."""
        return max((value for life in self.lives.values() if (value := getattr(life, name)) is not None), default=0)


class BlockedVisits(ScanListener):
    """Who was left queued in the current step, and why. Native stops at a BLOCKED request count as well."""

    def __init__(self, scan: Any) -> None:
        self._scan = scan
        self._hit: tuple[Any, int] | None = None
        self.deferred: dict[str, str] = {}

    def step_started(self) -> None:
        self.deferred = {}

    def visited(self, request: Any) -> None:
        self._hit = None

    def skipped(self, request: Any, refusal: Refusal) -> None:
        self.deferred[request.request_id] = "blocked" if refusal.state else refusal.reason or refusal.outcome

    def looked_up(self, request: Any, hit_blocks: Any, matched_tokens: int) -> None:
        self._hit = (hit_blocks, matched_tokens)

    def allocated(self, request: Any, num_tokens: int, granted: bool, arguments: Any) -> None:
        if not granted and self._hit is not None and self._scan.refusal_of_hit(*self._hit):
            self.deferred[request.request_id] = "blocked"


class StreamRun:
    """Offers a stream to a scheduler, round by round, and counts.

    Args:
        scheduler: Without requests; a policy's class or vLLM's own.
        offers: The stream; arrival times need not be sorted.
        model: Duration of a round.
        listens: Whether to count visits, which takes the place of the scheduler's listener.
    """

    def __init__(
        self, scheduler: Any, offers: Iterable[Offer], model: RoundModel | None = None, listens: bool = True
    ) -> None:
        self.scheduler = scheduler
        self.model = model or RoundModel()
        self.report = StreamReport()
        self.clock = SimulatedClock()
        scheduler.clock = self.clock
        self._listener = BlockedVisits(scheduler) if listens and hasattr(scheduler, "listener") else None
        if self._listener is not None:
            scheduler.listener = self._listener
        self._pending = deque(sorted(offers, key=lambda offer: offer.arrival_ns))
        self._aborts = sorted((o.aborted_ns, o.name) for o in self._pending if o.aborted_ns is not None)
        self._in_flight: deque[Round] = deque()
        self._waiting: set[str] = set()
        self._blocked_before: set[str] = set()

    def finish(self, max_rounds: int = 100_000) -> StreamReport:
        """Run to the end of the stream; fails when the scheduler makes no progress."""
        while not self.is_over:
            self.step()
            assert self.report.num_rounds <= max_rounds, "no end: more rounds than allowed"
        return self.report

    @property
    def is_over(self) -> bool:
        """Whether every offered request has ended and every round been answered."""
        return not (self._pending or self.scheduler.requests or self._in_flight)

    def step(self) -> Any:
        """Let arrive and abort what is due, take one scheduling step, and move the clock; returns what it said."""
        self._let_time_act()
        output, answer = schedule_round(self.scheduler)
        self._in_flight.append((output, answer))
        self._count(output)
        self.clock.now_ns += self.model.duration_ns(output.total_num_scheduled_tokens)
        self.report.duration_ns = self.clock.now_ns
        depth = 1 if self.scheduler.scheduler_config.async_scheduling and output.total_num_scheduled_tokens else 0
        while len(self._in_flight) > depth:
            self._answer(self._in_flight.popleft())
        return output

    def _let_time_act(self) -> None:
        if not self.scheduler.requests and not self._in_flight and self._pending:
            self.clock.now_ns = max(self.clock.now_ns, self._pending[0].arrival_ns)
        while self._pending and self._pending[0].arrival_ns <= self.clock.now_ns:
            self._add(self._pending.popleft())
        while self._aborts and self._aborts[0][0] <= self.clock.now_ns:
            self._abort(self._aborts.pop(0)[1])

    def _add(self, offer: Offer) -> None:
        lives = self.report.lives
        lives[offer.name] = Life(len(lives), len(offer.prompt), self.report.num_rounds, self.clock.now_ns)
        self._waiting.add(offer.name)
        self.scheduler.add_request(
            make_request(
                self.scheduler,
                offer.name,
                offer.prompt,
                max_tokens=offer.max_tokens,
                priority=offer.priority,
                arrival_time=float(len(lives)),
            )
        )

    def _abort(self, name: str) -> None:
        if name in self.scheduler.requests:
            self.report.lives[name].outcome = "aborted"
            self._waiting.discard(name)
            self.scheduler.finish_requests(name, RequestStatus.FINISHED_ABORTED)

    def _answer(self, taken: Round) -> None:
        before = dict(self.scheduler.requests)
        update_round(self.scheduler, taken)
        for name in before.keys() - self.scheduler.requests.keys():
            life = self.report.lives[name]
            life.outcome, life.num_output_tokens = "finished", before[name].num_output_tokens

    # -- counting ----------------------------------------------------------------------------------------------------

    def _count(self, output: Any) -> None:
        report, tokens = self.report, output.num_scheduled_tokens
        selected = [name for name in tokens if name in self._waiting]
        for name, num_tokens in tokens.items():
            end = self.scheduler.requests[name].num_computed_tokens
            report.lives[name].add_row(end - num_tokens, end, name in self._waiting)
        deferred = self._listener.deferred if self._listener is not None else None
        self._count_waits(selected, deferred)
        self._count_preempted()
        report.num_rows += len(tokens)
        report.num_rounds += bool(tokens)
        report.num_empty_steps = 0 if tokens else report.num_empty_steps + 1
        assert report.num_empty_steps <= MAXIMUM_EMPTY_STEPS, "no progress: nothing but empty steps"
        self._count_deferrals(selected, deferred or {})

    def _count_waits(self, selected: list[str], deferred: dict[str, str] | None) -> None:
        numbers = sorted(life.number for name in selected if (life := self.report.lives[name]).wait_rounds is None)
        for name in selected:
            self._waiting.discard(name)
            life = self.report.lives[name]
            if life.wait_rounds is None:
                life.wait_rounds = self.report.num_rounds - life.arrived_round
                life.wait_ns = self.clock.now_ns - life.arrived_ns
        for name in self._waiting if numbers else ():
            life = self.report.lives[name]
            num_later = len(numbers) - bisect_right(numbers, life.number)
            life.num_overtakes += num_later
            life.num_overtaken_rounds += bool(num_later)
            if num_later and deferred is not None and name not in deferred:
                self.report.unexplained.append(name)

    def _count_preempted(self) -> None:
        running = {request.request_id for request in self.scheduler.running}
        preempted = self.scheduler.requests.keys() - running - self._waiting
        self.report.num_preemptions += len(preempted)
        self._waiting |= preempted

    def _count_deferrals(self, selected: list[str], deferred: dict[str, str]) -> None:
        self.report.deferrals.update(deferred.values())
        blocked = {name for name, reason in deferred.items() if reason == "blocked"}
        for name in self._blocked_before & self.scheduler.requests.keys():
            fate = "selected" if name in selected else "blocked" if name in blocked else "not_reached"
            self.report.after_blocked[fate] += 1
        self._blocked_before = blocked


def scheduler_for(policy: str, /, *, async_scheduling: bool = False, **shape: Any) -> Any:
    """A scheduler that follows a policy; ``stock`` is vLLM's own class. ``shape`` as for ``build_scheduler``."""
    native, ours = (AsyncScheduler, RadixFlowAsyncScheduler) if async_scheduling else (Scheduler, RadixFlowScheduler)
    settings = {} if policy == "stock" else {"radixflow": {"policy": policy}}
    return build_scheduler(
        native if policy == "stock" else ours,
        async_scheduling=async_scheduling,
        additional_config=settings,
        **shape,
    )
