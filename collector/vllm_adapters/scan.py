"""The interface between vLLM's waiting-queue scan, the policies that decide in it and the recorders that observe it.

It is the same for every supported vLLM version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.request import Request


@dataclass(slots=True)
class StateMark:
    """One recurrent state that vLLM regards as being written in the current step.

    Attributes:
        request_id: Request whose scheduling set the mark.
        already_published: Whether the state had been registered in an earlier step, so that nobody is writing it now.
    """

    request_id: str
    already_published: bool


@dataclass(slots=True)
class StateRefusal:
    """Why the native check refuses a request for its recurrent state (BLOCKED).

    Attributes:
        awaited_hash: Hash (with group) of the state that the request would resume from.
        matched_tokens: Tokens of the prompt that the prefix cache matches.
        mark: The mark that makes the state unusable in this step; None if it was set unseen.
    """

    awaited_hash: bytes
    matched_tokens: int
    mark: StateMark | None


class Scan(Protocol):
    """What a rule may ask about the scan that is going on. Nothing here changes the engine's state."""

    running: list[Any]
    step_started_ns: int
    budget: Any

    def waiting_requests(self) -> Iterator[Any]:
        """Waiting requests in the order of the scan."""

    def state_refusal(self, request: Request) -> StateRefusal | None:
        """The refusal of the native state check for a waiting request at this point of the scan, or None."""


class VisitRule:
    """A scheduling rule: it may keep a waiting request out of this round, and the scan goes on behind it.

    The base class refuses nobody. Times are monotonic nanoseconds.
    """

    def registered(self, request: Any, now_ns: int) -> None:
        """A request entered the scheduler."""

    def start_step(self, scan: Any) -> None:
        """A schedule() call begins."""

    def refuse(self, scan: Any, request: Any) -> Refusal | None:
        """The scan reached a request: a refusal keeps it queued, in order; None lets native code decide."""
        return None

    def selected(self, request: Any) -> None:
        """Native code took the request."""

    def finished(self, request: Any) -> None:
        """A request left the scheduler, also by an abort while it was held."""


@dataclass(slots=True)
class Refusal:
    """A rule's decision to skip one request in this round.

    Attributes:
        outcome: ``blocked`` or ``held``, or ``other`` with a reason.
        reason: Reason of an ``other`` outcome or of a hold.
        state: The native refusal behind a ``blocked`` outcome.
    """

    outcome: str
    reason: str | None = None
    state: StateRefusal | None = None


class ComponentListener:
    """Receives the intervals in which the scheduler's process works. The base class ignores them; it must never raise.

    Intervals nest: each :meth:`end` closes the one that began last. ``selection`` is schedule() itself, ``lookup`` a
    walk through the prefix cache, ``publish`` the entry of new states into it, ``update`` the processing of an output.

    Attributes:
        sees_selection: Whether it is also told when schedule() itself begins and ends (``selection``).
    """

    sees_selection = True

    def begin(self, component: str, output: Any = None) -> None:
        """A component begins to work.

        Args:
            component: Its name.
            output: The output of the round that it works on, if that round was decided before; else None.
        """

    def end(self) -> None:
        """The component that began last has ended, normally or with an exception."""

    def decided(self, output: SchedulerOutput) -> None:
        """schedule() hands this out; what follows, until :meth:`handed_over`, is the executor taking it."""

    def handed_over(self, output: SchedulerOutput) -> None:
        """The executor has taken the round; with an executor in this very process, it has also run it."""

    def closed(self) -> None:
        """The scheduler shuts down."""


class ScanListener:
    """Receives what happens in a scan. The base class ignores everything; a listener must never raise."""

    def registered(self, request: Request) -> None:
        """A request entered the scheduler."""

    def step_started(self) -> None:
        """schedule() begins; rules have not been asked yet."""

    def released(self, request: Request, reason: str) -> None:
        """An admission rule released a request; ``reason`` is the rule's word for why."""

    def visited(self, request: Request) -> None:
        """The scan reached a waiting request."""

    def skipped(self, request: Request, refusal: Refusal) -> None:
        """The request just visited stays queued and the scan goes on."""

    def looked_up(self, request: Request, hit_blocks: Any, matched_tokens: int) -> None:
        """Native code took this prefix-cache hit for the request just visited: blocks by group, and their tokens."""

    def split(self, request: Request, num_tokens: int) -> None:
        """The aligned split of the request just visited left this many tokens."""

    def allocated(self, request: Request, num_tokens: int, granted: bool, arguments: Any) -> None:
        """allocate_slots() was called for a waiting request."""

    def preempted(self, request: Request) -> None:
        """A running request was preempted."""

    def reset_started(self) -> None:
        """The prefix cache is about to be emptied; running requests may be preempted for it."""

    def reset_ended(self, succeeded: bool) -> None:
        """The prefix cache was emptied, or kept because running requests hold blocks of it."""

    def step_ended(self, output: SchedulerOutput) -> None:
        """schedule() ended natively; the scheduler's state is that after the round was chosen."""

    def update_started(self, output: SchedulerOutput) -> None:
        """update_from_output() begins."""

    def update_ended(self, output: SchedulerOutput) -> None:
        """update_from_output() ended."""

    def finished(self, request: Request) -> None:
        """A request left the scheduler: finished or aborted."""

    def closed(self) -> None:
        """The scheduler shuts down."""
