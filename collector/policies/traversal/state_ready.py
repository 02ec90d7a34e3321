"""State-ready traversal: skip only the consumer whose recurrent state is being written, and scan on."""

from __future__ import annotations

from typing import Any

from radixflow.collector.vllm_adapters.scan import Refusal, Scan, VisitRule


class StateReadyTraversal(VisitRule):
    """Keeps a BLOCKED request queued in its place; every other outcome stays native.

    The native check is unchanged and runs again when the request is visited in the next round. For the same state the
    selected requests are those of prefix-stop followed by what prefix-stop left behind its stop (arXiv 2610.18143).
    """

    def refuse(self, scan: Scan, request: Any) -> Refusal | None:
        """Refuse a request whose state a selected producer writes in this step."""
        state = scan.state_refusal(request)
        return None if state is None else Refusal("blocked", state=state)
