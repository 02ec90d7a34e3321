"""Walks a scheduler through random reachable states: shared prefixes of all lengths, decode, preemption, eviction.

All choices come from one `random.Random`, so that a seed replays a walk and hypothesis (`st.randoms`) can drive it.
"""

import dataclasses
import random
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from vllm.v1.core.sched.interface import PauseState
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import RequestStatus

from tests.scheduler_harness.cloning import clone
from tests.scheduler_harness.construction import FULL_ATTENTION_INTERVAL, build_scheduler, make_request
from tests.scheduler_harness.driving import Round, schedule_round, update_round

MAX_OUTPUT_TOKENS = 40


@dataclasses.dataclass(frozen=True)
class WorldShape:
    """The constants of a walk. Lengths and budgets in tokens."""

    block_size: int
    hash_block_size: int | None  # None: hits end at whole blocks
    num_blocks: int
    max_num_seqs: int
    max_num_batched_tokens: int
    max_prompt_tokens: int
    policy: str = "fcfs"
    async_scheduling: bool = False
    arrival_rate: float = 1.5  # requests a round
    engine_arguments: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def draw(cls, rng: random.Random, **fixed: Any) -> "WorldShape":
        """Returns a random shape, from pools that hold little more than one request to ample ones."""
        block_size = fixed.get("block_size") or rng.choice([16, 16, 32, 64, 528])
        max_prompt_tokens = block_size * rng.choice([3, 6, 10])
        # The longest request must fit alone, or it would wait for ever. State groups keep up to four blocks a request:
        # the state resumed from, the running one, one copied on write, and one not yet given back.
        largest = -(-(max_prompt_tokens + MAX_OUTPUT_TOKENS) // block_size) + 1 + 4 * (FULL_ATTENTION_INTERVAL - 1)
        drawn = {
            "block_size": block_size,
            "hash_block_size": rng.choice([None, None, None, block_size // 4]),
            "num_blocks": 1 + int(largest * rng.choice([1.0, 1.2, 1.5, 2.5, 8.0])),
            "max_num_seqs": rng.choice([1, 3, 5, 8, 16]),
            "max_num_batched_tokens": block_size * rng.choice([1, 2, 4, 8]) + rng.choice([0, 0, 1, block_size // 3]),
            "max_prompt_tokens": max_prompt_tokens,
            "policy": rng.choice(["fcfs", "fcfs", "fcfs", "priority"]),
            "arrival_rate": rng.choice([0.5, 1.5, 4.0]),
            "engine_arguments": tuple(
                (name, value)
                for name, value, share in (("scheduler_reserve_full_isl", False, 0.5), ("watermark", 0.05, 0.1))
                if rng.random() < share
            ),
        }
        return cls(**(drawn | fixed))


class SchedulerWorld:
    """A scheduler, the traffic that comes to it, and the answers on their way to it."""

    def __init__(
        self,
        shape: WorldShape,
        rng: random.Random,
        scheduler_cls: type[Scheduler] = Scheduler,
        additional_config: Mapping[str, Any] | None = None,
    ) -> None:
        self.shape = shape
        self.scheduler = build_scheduler(
            scheduler_cls,
            block_size=shape.block_size,
            hash_block_size=shape.hash_block_size,
            max_num_seqs=shape.max_num_seqs,
            max_num_batched_tokens=shape.max_num_batched_tokens,
            num_blocks=shape.num_blocks,
            max_model_len=shape.max_prompt_tokens + MAX_OUTPUT_TOKENS + 1,
            policy=shape.policy,
            async_scheduling=shape.async_scheduling,
            additional_config=additional_config,
            **dict(shape.engine_arguments),
        )
        self.in_flight: deque[Round] = deque()
        """Rounds that are scheduled and not yet answered: at most one, and none without async scheduling."""
        self.last_output: SchedulerOutput | None = None
        self._rng = rng
        self._num_requests = 0
        self._stems: list[list[int]] = []
        for _ in range(rng.randrange(1, 7)):
            # Stems grow out of each other, so that prefixes are shared to any depth.
            trunk = rng.choice(self._stems)[: rng.randrange(shape.max_prompt_tokens)] if self._stems else []
            self._stems.append(trunk + self._tokens(shape.max_prompt_tokens - len(trunk)))

    def clone(self) -> Scheduler:
        """Returns a copy of the scheduler at this state. It can take its next decision without an answer."""
        return clone(self.scheduler)

    def states(self, count: int) -> Iterator[Scheduler]:
        """Yields the scheduler before each of `count` rounds that it has work for, and takes the round afterwards.

        The caller looks at the scheduler or copies it, and changes it by `advance()` at most.
        """
        for _ in range(count):
            self.last_output = None
            self.disturb()
            while not self.scheduler.requests:
                self.answer_all()
                self.add_request()
            yield self.scheduler
            if self.last_output is None:
                self.advance()

    def disturb(self) -> None:
        """Lets requests arrive, and now and then aborts one, resets the prefix cache, or pauses for a round."""
        if len(self.scheduler.requests) < 60:
            for _ in range(self._rng.choice([0, 1, round(2 * self.shape.arrival_rate)])):
                self.add_request()
        if self.scheduler.requests and self._rng.random() < 0.05:
            request_id = self._rng.choice(sorted(self.scheduler.requests))
            self.scheduler.finish_requests(request_id, RequestStatus.FINISHED_ABORTED)
        if self._rng.random() < 0.02:
            self.reset_cache(reset_running_requests=self._rng.random() < 0.5)
        paused = self._rng.random() < 0.02
        self.scheduler.set_pause_state(
            self._rng.choice([PauseState.PAUSED_NEW, PauseState.PAUSED_ALL]) if paused else PauseState.UNPAUSED
        )

    def reset_cache(self, reset_running_requests: bool) -> None:
        """Empties the prefix cache; running requests are preempted for it, or keep it as it is."""
        self.scheduler.reset_prefix_cache(reset_running_requests=reset_running_requests)

    def add_request(self) -> None:
        """Adds one random request."""
        self._num_requests += 1
        request = make_request(
            self.scheduler,
            f"request-{self._num_requests}",
            self._prompt(),
            max_tokens=self._rng.choice([1, 1, 2, 5, MAX_OUTPUT_TOKENS]),
            priority=self._rng.randrange(3) if self.shape.policy == "priority" else 0,
            arrival_time=float(self._num_requests),
        )
        self.scheduler.add_request(request)

    def advance(self) -> None:
        """Takes one round; under async scheduling, its answer comes in after the next round."""
        self.in_flight.append(schedule_round(self.scheduler))
        self.last_output = self.in_flight[-1][0]
        if len(self.in_flight) > self.shape.async_scheduling:
            update_round(self.scheduler, self.in_flight.popleft())

    def answer_all(self) -> None:
        """Hands in the answers that are still on their way."""
        while self.in_flight:
            update_round(self.scheduler, self.in_flight.popleft())

    def finish(self, max_rounds: int = 20_000) -> None:
        """Serves all requests that are left, with no more traffic; fails when that does not end."""
        self.scheduler.set_pause_state(PauseState.UNPAUSED)
        for _ in range(max_rounds):
            if not self.scheduler.requests:
                break
            self.advance()
        self.answer_all()
        assert not self.scheduler.requests, "no end: requests are left after the greatest number of rounds"

    def _tokens(self, count: int) -> list[int]:
        return [self._rng.randrange(5, 500) for _ in range(count)]

    def _prompt(self) -> list[int]:
        rng, block, longest = self._rng, self.shape.block_size, self.shape.max_prompt_tokens
        unit = self.shape.hash_block_size or block
        any_length = rng.randrange(longest + 1)
        shared = rng.choice([any_length, any_length, any_length // block * block, any_length // unit * unit])
        shared = min(max(shared + rng.choice([0, 0, 0, 1, -1]), 0), longest)
        own = rng.choice([0, 1, rng.randrange(unit + 1), rng.randrange(2 * block + 1)])
        prompt = rng.choice(self._stems)[:shared]
        return (prompt + self._tokens(min(own, longest - shared))) or self._tokens(1)
