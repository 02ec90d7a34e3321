"""Makes the rows that follow each request: its registration, its events, and what it was at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radixflow.collector.instrumentation.notes.stall_notes import Stall
from radixflow.collector.instrumentation.notes.step_notes import StepNotes
from radixflow.collector.instrumentation.row_making.held_and_overtaken import newly_held
from radixflow.collector.instrumentation.row_making.prompt_blocks import PromptBlocks, hash_number
from radixflow.collector.instrumentation.row_making.request_lives import RequestLife
from radixflow.collector.instrumentation.row_making.stall_rows import stall_row
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.schema.writing.segment_writer import SegmentWriter

RESET = "prefix_cache_reset"
"""Event of the whole scheduler, and the reason of the preemptions that it causes."""
Row = tuple[Any, ...]


class RequestRows:
    """Follows every request through a run. Nothing here asks the scheduler: it has gone on meanwhile.

    Args:
        writer: Where rows go.
        settings: What to record.
        block_tokens: Tokens of one hashed block.
    """

    def __init__(self, writer: SegmentWriter, settings: RecorderSettings, block_tokens: int) -> None:
        self.lives: dict[str, RequestLife] = {}
        self.num_finished = 0
        self._num_registered = 0
        self._writer = writer
        self._blocks = PromptBlocks(block_tokens)
        self._has_events = settings.records("events")
        self._has_stalls = settings.records("stalls")
        self._events: list[Row] = []

    def registered(self, now_ns: int, request: Any, num_hashes: int) -> None:
        """A request entered the scheduler, with hashes of so many whole blocks."""
        if request.request_id in self.lives:
            return  # a streaming session goes on under its name
        hashes = request.block_hashes[:num_hashes]
        life = self._take_on(request, now_ns, hashes[-1] if hashes else None)
        blocks = self._blocks.new_blocks(life.number, hashes)
        if blocks:
            self._writer.append("block_hashes", blocks)
        self._event(now_ns, life, "arrived", None)

    def adopted(
        self, request: Any, registered_ns: int, first_selected_ns: int | None, num_computed_tokens: int
    ) -> None:
        """A request had been there before the recording began."""
        life = self._take_on(request, registered_ns)
        if first_selected_ns is not None:
            life.go_on(first_selected_ns, num_computed_tokens)

    def _take_on(self, request: Any, registered_ns: int, last_block: bytes | None = None) -> RequestLife:
        life = RequestLife(self._num_registered, request.request_id, request.num_prompt_tokens, registered_ns)
        self.lives[request.request_id] = life
        self._num_registered += 1
        row = (life.number, life.request_id, life.num_prompt_tokens, registered_ns, hash_number(last_block))
        self._writer.append("registrations", row)
        return life

    def preempted(self, now_ns: int, request_id: str, round_number: int | None, detail: str | None) -> None:
        """A request lost its blocks: in a round, or (with a detail) to something else."""
        life = self.lives[request_id]
        life.num_preemptions += 1
        self._event(now_ns, life, "preempted", round_number, detail=detail)

    def reset(self, now_ns: int, detail: str) -> None:
        """The prefix cache was asked to be emptied; ``detail`` says whether it was."""
        self._event(now_ns, None, RESET, None, detail=detail)

    def released(self, now_ns: int, request_id: str, reason: str) -> None:
        """Admission let a request through."""
        life = self.lives[request_id]
        life.released_ns = now_ns
        self._event(now_ns, life, "released", None, detail=reason)

    def finished(self, now_ns: int, request_id: str, status: Any, num_output_tokens: int) -> None:
        """A request ended, by its status finished or aborted."""
        life = self.lives.pop(request_id, None)
        if life is None:
            return
        outcome = "aborted" if status.name in ("FINISHED_ABORTED", "FINISHED_ERROR") else "finished"
        self.num_finished += 1
        self._event(now_ns, life, outcome, None)
        self._writer.append("requests", life.as_row(now_ns, num_output_tokens, outcome))

    def ended_alive(self, num_output_tokens: Mapping[str, int]) -> None:
        """The requests that have not ended get their rows: this recording sees no more of them."""
        for life in self.lives.values():
            row = life.as_row(None, num_output_tokens.get(life.request_id, 0), "unfinished")
            self._writer.append("requests", row)
        self.lives.clear()

    def kept_waiting(self, notes: StepNotes, round_number: int | None) -> None:
        """Write events for the requests that rules kept waiting in a scan.

        Args:
            notes: The scan.
            round_number: Its round; None if the step scheduled nothing.
        """
        for life, event, reason in newly_held(notes.visits, self.lives):
            self._event(notes.started_ns, life, event, round_number, detail=reason)

    def stalled(self, stall: Stall) -> None:
        """A stall is over; the requests that it names are still there, or have just left."""
        if self._has_stalls:
            self._writer.append("stalls", stall_row(stall, self.lives))

    def _event(
        self, time_ns: int, life: RequestLife | None, event: str, round_number: int | None,
        other: RequestLife | None = None, detail: str | None = None, num_rounds: int | None = None,
    ) -> None:  # fmt: skip
        if self._has_events:
            other_number = other.number if other is not None else None
            number = life.number if life is not None else None
            self._events.append((time_ns, number, event, round_number, other_number, detail, num_rounds))

    def write_events(self) -> None:
        """Write the events so far: many at a time."""
        if self._events:
            events, self._events = self._events, []
            self._writer.append("events", events)
