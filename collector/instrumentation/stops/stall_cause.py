"""What lies behind the stop of a step that scheduled nothing."""

from __future__ import annotations

from typing import Any

from radixflow.collector.instrumentation.notes.step_notes import StepNotes, Visit

_FOR_BLOCKS = frozenset({"kv_blocks", "full_prompt_reservation"})
"""Stop reasons of a request for which there were too few blocks."""
_PARKED = "WAITING_FOR_STREAMING_REQ"
"""Status of a session whose client has not sent its next input: it holds a row, and nothing can be done for it."""


def num_parked_sessions(scan: Any) -> int:
    """Sessions in the waiting queue that wait for their client's next input, not for the engine."""
    return int(getattr(scan, "num_waiting_for_streaming_input", 0))


def waits_for_work(request: Any) -> bool:
    """Whether a request of the waiting queue waits for the engine, and not for its own client."""
    return bool(request.status.name != _PARKED)


def stall_cause(scan: Any, notes: StepNotes, reason: str, stop: Visit | None) -> str | None:
    """Say more about a stop than its reason does, as column ``stop_cause`` of table ``stalls`` lists it.

    Args:
        scan: The scheduler, as schedule() leaves it.
        notes: The scan of the step.
        reason: What ended it.
        stop: The visit at which it ended.
    """
    if reason in _FOR_BLOCKS:
        pool = scan.kv_cache_manager.block_pool
        is_empty = pool.get_num_free_blocks() == pool.num_gpu_blocks - 1  # one is the null block, never handed out
        return "larger_than_pool" if is_empty else "pool_in_use"
    if reason == "row_capacity":
        return "parked_sessions" if num_parked_sessions(scan) else None
    if reason == "end_of_queue":
        return next((_why_passed_over(each) for each in notes.visits if waits_for_work(each.request)), None)
    return None if stop is None else stop.cause


def _why_passed_over(visit: Visit) -> str | None:
    return visit.reason if visit.outcome == "other" else visit.outcome
