"""An experiment beyond the paper: skip a request whose aligned split is 0 tokens, too."""

from __future__ import annotations

from typing import Any

from radixflow.collector.vllm_adapters.scan import Refusal, VisitRule

MAXIMUM_OVERTAKES = 64
"""Selections behind a request skipped by this rule after which the scan stops at it again."""


class AlignedSplitSkip(VisitRule):
    """Keeps a request queued whose next aligned chunk does not fit into what is left of the budget, and scans on.

    vLLM ends the scan there. A request is passed by at most :data:`MAXIMUM_OVERTAKES` later ones through this rule;
    then native handling returns: the scan stops at it in every round until those running leave a whole block.
    """

    def __init__(self, maximum_overtakes: int = MAXIMUM_OVERTAKES) -> None:
        self._maximum = maximum_overtakes
        self._overtakes: dict[str, int] = {}
        self._passed_now: list[str] = []

    def start_step(self, scan: Any) -> None:
        self._passed_now.clear()

    def refuse(self, scan: Any, request: Any) -> Refusal | None:
        if any(self._overtakes.get(passed, 0) >= self._maximum for passed in self._passed_now):
            return Refusal("other", "overtake_limit")  # nobody else passes it in this round
        if self._overtakes.get(request.request_id, 0) >= self._maximum or scan.budget.tokens_left == 0:
            return None
        if request.num_computed_tokens:
            return None  # it holds blocks, which those behind it may wait for
        if scan.native_demand(request, scan.budget.tokens_left)[1] != "aligned_split_zero":
            return None
        self._passed_now.append(request.request_id)
        return Refusal("other", "aligned_split_zero")

    def selected(self, request: Any) -> None:
        self._overtakes.pop(request.request_id, None)
        for passed in self._passed_now:
            self._overtakes[passed] = self._overtakes.get(passed, 0) + 1

    def finished(self, request: Any) -> None:
        self._overtakes.pop(request.request_id, None)
