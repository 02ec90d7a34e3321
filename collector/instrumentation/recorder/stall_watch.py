"""Joins equal steps without work to stalls, on the engine's thread: however long one lasts, it is one note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from radixflow.collector.instrumentation.notes.stall_notes import Stall, StallFacts
from radixflow.collector.instrumentation.notes.step_notes import StepNotes
from radixflow.collector.instrumentation.stops.stall_cause import num_parked_sessions, stall_cause, waits_for_work
from radixflow.collector.instrumentation.stops.stop_reason import ScanEnd, stop_of_scan


class StallWatch:
    """Follows the steps that schedule nothing.

    Args:
        scan: The scheduler, an adapter's scan.
        on_end: Called with each stall that is over, on the thread that ended it.

    Attributes:
        current: The stall that goes on; None when the last step found work or none was there. Any thread may read it.
    """

    def __init__(self, scan: Any, on_end: Callable[[Stall], None]) -> None:
        self.current: Stall | None = None
        self._scan = scan
        self._on_end = on_end

    def add(self, notes: StepNotes, round_before: int, num_rounds_in_flight: int, ended_ns: int) -> None:
        """Take in a step that scheduled nothing.

        Args:
            notes: Its scan, with an outcome for every visit.
            round_before: Round before it, 0 before the first.
            num_rounds_in_flight: Rounds whose output has not been processed.
            ended_ns: When schedule() ended.
        """
        facts = self._facts(notes, round_before, num_rounds_in_flight)
        current = self.current
        if current is not None and facts == current.facts:
            current.num_steps += 1
            current.end_ns = ended_ns
            return
        self.end()
        if facts is not None:
            self.current = Stall(facts, notes.started_ns, ended_ns)

    def request_ended(self, request_id: str) -> None:
        """End the stall that names a request which leaves: no step can be equal, and its number is still known."""
        current = self.current
        if current is not None and request_id in (current.facts.head_request, current.facts.stop_request):
            self.end()

    def end(self) -> None:
        """End the stall that goes on, if one does: a round follows, or the recording ends."""
        ended, self.current = self.current, None
        if ended is not None:
            self._on_end(ended)

    def _facts(self, notes: StepNotes, round_before: int, num_rounds_in_flight: int) -> StallFacts | None:
        """What the step found; None if it is idle, because nothing waits and nothing runs."""
        scan = self._scan
        num_queued, num_running = scan.num_waiting_requests(), len(scan.running)
        num_waiting = num_queued - num_parked_sessions(scan)
        if not num_waiting and not num_running:
            return None
        head = next(filter(waits_for_work, scan.waiting_requests()), None) if num_waiting else None
        reason, stop = stop_of_scan(notes, ScanEnd(num_queued, scan.is_paused(), scan.budget.tokens_left))
        return StallFacts(
            round_before or None, num_waiting, num_running, num_rounds_in_flight,
            scan.kv_cache_manager.block_pool.get_num_free_blocks(), None if head is None else head.request_id,
            None if stop is None else stop.request.request_id, reason, stall_cause(scan, notes, reason, stop),
        )  # fmt: skip
