"""Flexible admission: hold a request for a short time to batch it with others, unless waiting gains nothing."""

from __future__ import annotations

from typing import Any

from radixflow.collector.policies.admission.held_requests import HeldRequests


class FlexAdmission(HeldRequests):
    """Holds an arrived branch for at most ``delay_ns``, and not at all once holding it gains nothing.

    At the start of a step each held branch is released, one by one and never by group, when its deadline has passed
    (``deadline``), when work is running (``work_running``), when the branches let through and held fill the rows
    (``rows_full``), or when the tokens that they still have to compute fill the token budget (``budget_full``). The
    rules are those of arXiv 2610.18143.
    """

    def start_step(self, scan: Any) -> None:
        held = self.held(scan)
        if not held:
            return
        everybody = self._reason_for_everybody(scan, held)
        for request in held:
            reason = everybody or ("deadline" if self.is_due(request, scan.step_started_ns) else None)
            if reason is not None:
                self.release(scan, request, reason)

    def _reason_for_everybody(self, scan: Any, held: list[Any]) -> str | None:
        if scan.running:
            return "work_running"
        # A session that waits for its next input keeps its row: rows_left has counted it already.
        if scan.num_waiting_requests() - scan.num_idle_sessions >= scan.budget.rows_left:
            return "rows_full"
        demand = sum(request.num_tokens - scan.matched_tokens(request) for request in held)
        return "budget_full" if demand >= scan.budget.tokens_left else None
