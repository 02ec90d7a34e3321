"""A policy's name turned into the rules that a scan asks at each visit."""

from __future__ import annotations

from radixflow.collector.policies.catalog import Policy
from radixflow.collector.policies.traversal.state_ready import StateReadyTraversal
from radixflow.collector.vllm_adapters.scan import VisitRule


def rules_of(policy: Policy) -> tuple[VisitRule, ...]:
    """The visit rules of a policy in the order in which they are asked; empty when native code decides alone."""
    return (StateReadyTraversal(),) if policy.traversal == "state-ready" else ()
