"""The notes of one schedule() call: plain values that say what was seen, from which rows are made later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from radixflow.collector.vllm_adapters.scan import StateMark, StateRefusal


class Visit:
    """One waiting request that the scan, or the probe behind it, looked at.

    Most visits find little: a value that was not found stays that of the class, which takes no time.

    Args:
        request: The request.
        position: Its place among the visits of its witness.
        found: Any of the attributes below.

    Attributes:
        outcome: ``selected``, ``ready`` (probe), ``blocked``, ``held`` or ``other``; None while undecided.
        num_tokens: Tokens granted or, for a ready request, that it would have taken.
        ready_tokens: Longest match without the states that are being written.
        skipped: Whether the scan left the request in its place and went on.
        resumes: Whether a selected request had been preempted before.
        restored: Hash of the recurrent state that a selected request resumes from.
    """

    witness: str = "native"
    outcome: str | None = None
    reason: str | None = None
    matched_tokens: int | None = None
    ready_tokens: int | None = None
    num_tokens: int | None = None
    state: StateRefusal | None = None
    hit_blocks: Any = None
    split_tokens: int | None = None
    skipped: bool = False
    resumes: bool = False
    restored: bytes | None = None

    def __init__(self, request: Any, position: int, **found: Any) -> None:
        self.request = request
        self.position = position
        if found:
            self.__dict__.update(found)

    @property
    def cause(self) -> str | None:
        """Cause of a blocked outcome: whether somebody writes the state or only marked it again."""
        if self.outcome != "blocked" or self.state is None or self.state.mark is None:
            return None
        return "marked_again" if self.state.mark.already_published else "being_written"


@dataclass(slots=True)
class ProbeResult:
    """What the probe found behind a stop, why it ended, and how long it took (ns)."""

    visits: list[Visit]
    end_reason: str
    duration_ns: int


@dataclass(slots=True)
class StepNotes:
    """The scan of one step as it happened.

    Attributes:
        started_ns: When schedule() began.
        num_running_before: Running requests then.
        num_waiting_before: Waiting requests then.
        visits: What the scan looked at, in order.
        preempted: When which request was preempted by schedule() itself; whether in a round is known when that ends.
        num_preempted: How many they are.
        probe: What was found behind its stop.
        recorder_ns: How long taking these notes took inside schedule().
        tokens_at_start: The token budget; while that much is left, nothing has been scheduled.
    """

    started_ns: int
    num_running_before: int
    num_waiting_before: int
    visits: list[Visit] = field(default_factory=list)
    preempted: list[tuple[int, str]] = field(default_factory=list)
    num_preempted: int = 0
    probe: ProbeResult | None = None
    recorder_ns: int = 0
    tokens_at_start: int = 0

    def all_visits(self) -> list[Visit]:
        """Visits of the scan, then those of the probe."""
        return self.visits + (self.probe.visits if self.probe else [])


ScheduledRow = tuple[Any, int, int, int]
"""One request in a round, as it was when schedule() ended: the request (which changes on), tokens scheduled, computed
tokens with those of the round among them, and whole blocks that it had a hash of."""


class FinishedStep(NamedTuple):
    """A step that scheduled something, as it was when schedule() ended.

    Attributes:
        round_number: Its round.
        notes: Its scan.
        rows: Its rows in the order of selection.
        marks: Recurrent states that vLLM marked as being written in this step, each with its mark; those of one request
            from the shortest prefix to the longest.
        ended_ns: End of native scheduling.
        is_paused: Whether vLLM's pause kept waiting requests out.
        num_tokens_left: What is left of the token budget.
        num_idle: Running requests that got no tokens in this round.
        num_idle_for_tokens: Of these, the ones that had tokens to compute.
        num_waiting: Length of the waiting queue.
        num_free_blocks: Free KV cache blocks.
        num_empty_steps: Steps without work before it.
        recorder_ns: Time of the recorder in it.
        is_kept: Whether the round belongs to the sample, so that its rows, visits and spans are written. Of the others,
            only their effect on requests is kept.
    """

    round_number: int
    notes: StepNotes
    rows: list[ScheduledRow]
    marks: list[tuple[bytes, StateMark]]
    ended_ns: int
    is_paused: bool
    num_tokens_left: int
    num_idle: int
    num_idle_for_tokens: int
    num_waiting: int
    num_free_blocks: int
    num_empty_steps: int
    recorder_ns: int
    is_kept: bool
