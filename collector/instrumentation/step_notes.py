"""What was seen while one schedule() call ran."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from radixflow.collector.vllm_adapters.scan import StateRefusal


@dataclass(slots=True)
class Visit:
    """One waiting request that the scan, or the probe behind it, looked at.

    Attributes:
        outcome: ``selected``, ``ready`` (probe), ``blocked``, ``held`` or ``other``; None while undecided.
        num_tokens: Tokens granted or, for a ready request, that it would have taken.
        ready_tokens: Longest match without the states that are being written.
        skipped: Whether the scan left the request in its place and went on.
    """

    request: Any
    position: int
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
    """The scan of one step as it happened; ``recorder_ns`` is the time that noting it took inside schedule()."""

    started_ns: int
    num_running_before: int
    num_waiting_before: int
    visits: list[Visit] = field(default_factory=list)
    num_preempted: int = 0
    probe: ProbeResult | None = None
    recorder_ns: int = 0

    @property
    def current(self) -> Visit:
        """The visit that is going on."""
        return self.visits[-1]

    def all_visits(self) -> list[Visit]:
        """Visits of the scan, then those of the probe."""
        return self.visits + (self.probe.visits if self.probe else [])
