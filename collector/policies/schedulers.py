"""vLLM scheduler classes that follow a policy. Each is a plain subclass; ``schedule()`` itself stays vLLM's."""

from __future__ import annotations

from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.policies.catalog import Policy, parse_policy
from radixflow.collector.policies.rules import rules_of
from radixflow.collector.vllm_adapters.selection import scan_class
from radixflow.schema.errors import ExitCode, RadixflowError

InstalledScan: Any = scan_class()
SETTINGS_KEY = "radixflow"
"""Key of our settings in vLLM's ``additional_config``."""


class FollowsPolicy(InstalledScan):
    """Mixin to put before a vLLM Scheduler class, which then follows a policy.

    The policy is named in ``additional_config["radixflow"]["policy"]``; without a name :attr:`default_policy` holds.
    """

    default_policy = "radixflow-immediate"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        config = kwargs["vllm_config"] if "vllm_config" in kwargs else args[0]
        settings = (config.additional_config or {}).get(SETTINGS_KEY, {})
        policy = parse_policy(settings.get("policy", self.default_policy))
        self.precise_marks = policy.precise
        super().__init__(*args, **kwargs)
        self.follow(policy)

    def follow(self, policy: Policy) -> None:
        """Follow another policy from the next step on, with the same marks (``+precise`` is fixed at the start).

        Raises:
            ValueError: If requests are there: they would lose what the old rules know of them.
            RadixflowError: If the engine's configuration is not supported by the policy.
        """
        if self.requests:
            raise ValueError("a policy can only be changed while the scheduler has no requests")
        unsupported = self.unsupported_configuration()
        if unsupported is not None and rules_of(policy):
            raise RadixflowError(f"Policy {policy.name} does not support {unsupported}.", ExitCode.USAGE)
        self.radixflow_policy = policy
        self.rules = rules_of(policy)


class RadixFlowScheduler(FollowsPolicy, Scheduler):
    """For synchronous scheduling."""


class RadixFlowAsyncScheduler(FollowsPolicy, AsyncScheduler):
    """For asynchronous scheduling, vLLM's default on CUDA; a plain Scheduler class would silently give it up."""
