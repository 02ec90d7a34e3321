"""What ended a scan of the waiting queue."""

from __future__ import annotations

from typing import Any, NamedTuple

from radixflow.collector.instrumentation.notes.step_notes import FinishedStep, StepNotes, Visit


def settle_undecided(scan: Any, notes: StepNotes) -> None:
    """Once schedule() has ended, give an outcome to those visits about which vLLM's code called none of our hooks.

    Native code skips a request for its adapter or for stale output before it looks it up, one of which a KV connector
    cannot tell yet afterwards, and goes on. Of those that were looked up and neither allocated nor refused, the last
    visit is the one at which native code left its loop.
    """
    for visit in notes.visits:
        if visit.outcome is None:
            visit.outcome = "other"
            was_looked_up = visit.hit_blocks is not None or visit.request.num_computed_tokens > 0
            visit.skipped = not was_looked_up or visit is not notes.visits[-1] or _waits_for_connector(scan, visit)
            if not was_looked_up:
                visit.reason = _skip_reason(visit)
            else:
                visit.reason = "remote_kv" if _waits_for_connector(scan, visit) else _break_reason(scan, visit)


def _waits_for_connector(scan: Any, visit: Visit) -> bool:
    """Whether a request was put back right after its lookup, before anything was split or deferred."""
    if scan.connector is None or visit.split_tokens is not None or visit.hit_blocks is None:
        return False
    return bool(scan.need_mamba_block_aligned_split) and not scan.budget.defers_prefills


class ScanEnd(NamedTuple):
    """What schedule() left behind: length of the waiting queue, whether vLLM's pause kept it out, tokens left."""

    num_waiting: int
    is_paused: bool
    num_tokens_left: int


def stop_of(step: FinishedStep) -> tuple[str, Visit | None]:
    """The reason why the scan of a round ended, and the visit at which it did (None unless a request stopped it)."""
    return stop_of_scan(step.notes, ScanEnd(step.num_waiting, step.is_paused, step.num_tokens_left))


def stop_of_scan(notes: StepNotes, end: ScanEnd) -> tuple[str, Visit | None]:
    """The same of any step, whether it scheduled something or not."""
    if notes.num_preempted:
        return "preempted_step", None
    last = notes.visits[-1] if notes.visits else None
    if last is not None and not last.skipped and last.outcome in ("blocked", "other"):
        return ("blocked" if last.outcome == "blocked" else last.reason or "unknown"), last
    return _limit_reason(notes, end), None


def _skip_reason(visit: Visit) -> str:
    return "stale_output" if getattr(visit.request, "num_stale_output_tokens", 0) else "lora"


def _break_reason(scan: Any, visit: Visit) -> str:
    if visit.split_tokens == 0:
        return "aligned_split_zero"
    if scan.budget.defers_prefills:
        return "prefill_throttle"
    if not scan.scheduler_config.enable_chunked_prefill:
        return "no_chunked_prefill"
    if visit.request.has_encoder_inputs:
        return "encoder"
    return "spec_padding" if scan.vllm_config.speculative_config is not None else "unknown"


def _limit_reason(notes: StepNotes, end: ScanEnd) -> str:
    num_skipped = sum(visit.skipped for visit in notes.visits)
    if end.num_waiting == num_skipped:
        return "end_of_queue"
    if end.is_paused:
        return "paused"
    return "token_budget" if end.num_tokens_left == 0 else "row_capacity"
