"""Scheduling policies for vLLM, usable with and without the collector.

``vllm serve MODEL --scheduler-cls radixflow.collector.policies.RadixFlowScheduler`` schedules with RadixFlow; use the
``Async`` twin where vLLM schedules asynchronously (its default on CUDA). The classes are loaded on first use, so that
policy names can be listed without vLLM.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radixflow.collector.policies.schedulers import RadixFlowAsyncScheduler, RadixFlowScheduler

__all__ = ["RadixFlowAsyncScheduler", "RadixFlowScheduler"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from radixflow.collector.policies import schedulers

    return getattr(schedulers, name)
