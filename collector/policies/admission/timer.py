"""Timer admission: hold each branch for a fixed time, unless a batch is full."""

from __future__ import annotations

from typing import Any

from radixflow.collector.policies.admission.held_requests import HeldRequests
from radixflow.collector.vllm_adapters.scan import Refusal


class TimerAdmission(HeldRequests):
    """Holds a branch until its timer ends or a batch is full, tested while the scan goes along the held ones.

    As in arXiv 2610.18143, a release during that test lets the peers behind it through in the same round; branches
    tested before it stay held, so later ones can overtake them. :class:`OrderedTimerAdmission` is the control.
    """

    def __init__(self, delay_ns: int) -> None:
        super().__init__(delay_ns)
        self._num_tested = 0
        self._released_for: str | None = None

    def start_step(self, scan: Any) -> None:
        self._num_tested = 0
        self._released_for = None

    def refuse(self, scan: Any, request: Any) -> Refusal | None:
        if request.request_id not in self._held_since:
            return None
        self._num_tested += 1
        if self._released_for is not None:
            self.release(scan, request, "peer_released")
        elif self.is_due(request, scan.step_started_ns):
            self._released_for = "timer"
            self.release(scan, request, self._released_for)
        elif self._num_tested >= scan.budget.rows_left:
            self._released_for = "batch_full"
            self.release(scan, request, self._released_for)
        return super().refuse(scan, request)


class OrderedTimerAdmission(HeldRequests):
    """The same timer with eligibility fixed before the scan: nobody is overtaken by a branch held behind it."""

    def start_step(self, scan: Any) -> None:
        held = self.held(scan)
        batch_is_full = bool(held) and len(held) >= scan.budget.rows_left
        last_due = max((i for i, request in enumerate(held) if self.is_due(request, scan.step_started_ns)), default=-1)
        for index, request in enumerate(held):
            if batch_is_full:
                self.release(scan, request, "batch_full")
            elif index <= last_due:
                self.release(scan, request, "timer" if self.is_due(request, scan.step_started_ns) else "peer_released")
