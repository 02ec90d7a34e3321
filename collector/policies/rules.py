"""A policy's name turned into the rules that a scan asks at each visit."""

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
    """The visit rules of a policy in the order in which they are asked; empty when native code decides alone.

    Who is held is not looked up; who is BLOCKED is skipped whatever the budget; the guard sees only the rest.
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
