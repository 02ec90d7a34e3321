"""The fragmentation guard: defer a branch to a later round rather than schedule a shortened segment of it."""

from __future__ import annotations

from typing import Any

from radixflow.collector.vllm_adapters.scan import Refusal, VisitRule


class FragmentationGuard(VisitRule):
    """Defers a branch when what is left of the budget would shorten its next aligned segment.

    The measure is what the branch would get if it were first in this round's scan, behind the running requests. The
    first request of a scan is therefore never deferred and nobody starves: a deferred
    branch keeps its place and moves up.
    """

    def __init__(self) -> None:
        self._tokens_at_start: int | None = None

    def start_step(self, scan: Any) -> None:
        self._tokens_at_start = None

    def refuse(self, scan: Any, request: Any) -> Refusal | None:
        left = scan.budget.tokens_left
        if self._tokens_at_start is None:
            self._tokens_at_start = left
        if left == self._tokens_at_start:
            return None
        now, whole = (scan.native_demand(request, tokens)[0] for tokens in (left, self._tokens_at_start))
        is_cut = 0 < now < whole and scan.reaches_allocation(request)
        return Refusal("held", "fragmentation") if is_cut else None
