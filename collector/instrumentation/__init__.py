"""Records what an engine does: scheduler and worker classes for vLLM, loaded on first use."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler

__all__ = ["RecordedAsyncScheduler", "RecordedScheduler"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from radixflow.collector.instrumentation import schedulers

    return getattr(schedulers, name)
