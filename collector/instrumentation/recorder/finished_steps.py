"""What a step that scheduled something leaves behind, read from the scheduler when schedule() ends."""

from __future__ import annotations

from typing import Any

from radixflow.collector.instrumentation.notes.step_notes import FinishedStep, StepNotes


def finished_step(
    scan: Any, notes: StepNotes, scheduled: dict[str, int], round_number: int, num_empty_steps: int, is_kept: bool,
    processing_ns: int,
) -> FinishedStep:  # fmt: skip
    """Read what will have changed by the time that rows are made of it.

    Args:
        scan: The scheduler, an adapter's scan, as schedule() leaves it.
        notes: What was noted of the scan; its selected visits are told what they resume from.
        scheduled: Tokens by request, in the order of selection.
        round_number: Number of the round.
        num_empty_steps: Steps without work before it.
        is_kept: Whether the round is one of the sample.
        processing_ns: When native scheduling ended and the recorder began with this.
    """
    requests = scan.requests
    rows = [
        (request := requests[name], number, request.num_computed_tokens, len(request.block_hashes))
        for name, number in scheduled.items()
    ]
    for visit in notes.visits:
        if visit.outcome == "selected":
            visit.resumes = bool(visit.request.num_preemptions)
            visit.restored = scan.deepest_state(visit.hit_blocks)
    idle = []
    if len(scan.running) != len(scheduled):  # most often every running request has its row
        idle = [request for request in scan.running if request.request_id not in scheduled]
    ended_ns = processing_ns - notes.recorder_ns - (notes.probe.duration_ns if notes.probe else 0)
    return FinishedStep(
        round_number, notes, rows, list(scan.state_marks()), ended_ns, scan.is_paused(), scan.budget.tokens_left,
        len(idle), sum(request.num_computed_tokens < request.num_tokens for request in idle),
        scan.num_waiting_requests(), scan.kv_cache_manager.block_pool.get_num_free_blocks(), num_empty_steps,
        notes.recorder_ns + scan.clock() - processing_ns, is_kept,
    )  # fmt: skip
