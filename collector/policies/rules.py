"""Makes the scheduling rules of a policy, which a scan asks at each visit to a waiting request."""

from __future__ import annotations

from radixflow.collector.policies.admission.flex import FlexAdmission
from radixflow.collector.policies.admission.held_requests import HeldRequests
from radixflow.collector.policies.admission.timer import OrderedTimerAdmission, TimerAdmission
from radixflow.collector.policies.catalog import NANOSECONDS_A_MILLISECOND, STATE_READY, Policy
from radixflow.collector.policies.fragmentation import FragmentationGuard
from radixflow.collector.policies.traversal.align import AlignedSplitSkip
from radixflow.collector.policies.traversal.keep_awaited import StateReadyKeepingStates
from radixflow.collector.policies.traversal.state_ready import StateReadyTraversal
from radixflow.collector.vllm_adapters.scan import VisitRule

ADMISSION_RULES: dict[str, type[HeldRequests]] = {
    "flex": FlexAdmission,
    "timer": TimerAdmission,
    "timer-ordered": OrderedTimerAdmission,
}


def rules_of(policy: Policy) -> tuple[VisitRule, ...]:
    """Return the rules of a policy in the order in which they are asked; none if vLLM's own code decides alone.

    Admission comes first, so that a held request costs no lookup; then the traversal skips BLOCKED requests, whatever
    is left of the budget; the fragmentation guard is asked only about the others.
    """
    rules: list[VisitRule] = []
    if policy.admission in ADMISSION_RULES:
        rules.append(ADMISSION_RULES[policy.admission](int(policy.delay_ms * NANOSECONDS_A_MILLISECOND)))
    if policy.traversal == STATE_READY:
        rules.append(StateReadyKeepingStates() if policy.keep else StateReadyTraversal())
    if policy.frag:
        rules.append(FragmentationGuard())
    if policy.align:
        rules.append(AlignedSplitSkip())
    return tuple(rules)
