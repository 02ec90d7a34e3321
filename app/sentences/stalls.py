"""What held up steps that scheduled nothing while work waited, in sentences."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from radixflow.app import units
from radixflow.app.sentences.reasons import reason_words

BY_ADMISSION = "held"
"""Cause of a stall in which an admission rule kept every waiting request back, as it is meant to."""
MOST_KINDS = 3
"""Kinds of stalls of a run that are put in words; how many more there are is said."""
_LATE_MS = 1000.0
"""A stall whose last step ended so long before its status was written has an engine that makes no steps."""


def stall_cause_words(stall: dict[str, Any]) -> str:
    """Say what held up the steps of a stall.

    Args:
        stall: A row of ``stall_times`` or ``stall_reasons``, or the columns ``stop_reason``, ``stop_cause`` and
            ``head_request_id`` of one.
    """
    reason, cause, head = stall["stop_reason"], stall["stop_cause"], stall["head_request_id"]
    if head is None:
        return "running requests got no token, and nothing waited"
    request = f"request {head}"
    if cause == "larger_than_pool":
        return f"{request} needs more blocks than the pool has"
    if cause == "pool_in_use":
        return f"{request} needs more blocks than are free"
    if cause == "parked_sessions":
        return f"sessions that wait for their clients hold the rows that {request} needs"
    if reason == "end_of_queue":
        return _passed_over(request, cause)
    if reason == "row_capacity":
        return f"every row is in use, and {request} waits for one"
    return f"{request} stopped the scan: {reason_words(reason)}"


def _passed_over(request: str, cause: str | None) -> str:
    if cause == BY_ADMISSION:
        return f"admission held {request} and all others"
    if cause == "blocked":
        return f"{request} was blocked by its recurrent state"
    return f"{request} was passed over: {reason_words(cause)}"


def stall_findings(summary: pa.Table, reasons: pa.Table) -> list[str]:
    """Say how each run stalled and what held it up; nothing of runs that did not, or where that is not known.

    Args:
        summary: Rows of ``stall_summary``.
        reasons: Rows of ``stall_reasons``, the longest first.
    """
    kinds = [row for row in reasons.to_pylist() if row["kind"] == "stalled"]
    return [
        _finding(run, [kind for kind in kinds if kind["run"] == run["run"]])
        for run in summary.to_pylist()
        if run["num_stalls"]
    ]


def _finding(run: dict[str, Any], kinds: list[dict[str, Any]]) -> str:
    steps, lasted = units.counted(run["num_stalled_steps"], "step"), units.duration(run["stalled_ms"])
    stalled = f"{run['label']} stalled {_times(run['num_stalls'])}, for {lasted}"
    said = f"{stalled}: {steps} scheduled nothing while work waited."
    return " ".join([said, *(_kind(kind) for kind in kinds[:MOST_KINDS]), *_more(kinds[MOST_KINDS:])])


def _kind(kind: dict[str, Any]) -> str:
    place = "before the first round"
    if kind["first_round_before"] is not None:
        place = f"after round {units.number(kind['first_round_before'])}"
    lasted = f"{units.counted(kind['num_steps'], 'step')}, {units.duration(kind['stalled_ms'])}, first {place}"
    others = _others(kind["most_waiting"], kind["head_request_id"], "waited")
    words = stall_cause_words(kind)
    return f"{words[0].upper()}{words[1:]}{others} ({kind['stop_reason']}; {lasted})."


def _more(kinds: list[dict[str, Any]]) -> Iterable[str]:
    if kinds:
        yield f"{units.counted(len(kinds), 'further kind')} of stalls follow on the SQL page in stall_reasons."


def _others(num_waiting: int, head: str | None, verb: str) -> str:
    if head is None or num_waiting < 2:
        return ""
    return f"; {units.counted(num_waiting - 1, 'more request')} {verb}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{units.number(count)} times"


def unknown_stalls(summary: pa.Table) -> list[str]:
    """Say of which runs nobody knows whether they stalled, and why."""
    return [
        f"Whether {run['label']} stalled is {units.NOT_MEASURED}: {run['why_not_measured']}."
        for run in summary.to_pylist()
        if run["why_not_measured"] is not None
    ]


def live_stall_sentence(stall: dict[str, Any] | None) -> str | None:
    """Say that a run stalls now, since when and what holds it up.

    Args:
        stall: What the status of the engine says of the stall that goes on; None if there is none.
    """
    if stall is None:
        return None
    words, late_ms = stall_cause_words(stall), (stall["said_ns"] - stall["end_ns"]) / 1e6
    lasted = units.duration((stall["said_ns"] - stall["start_ns"]) / 1e6)
    others = _others(stall["num_waiting"], stall["head_request_id"], "waits" if stall["num_waiting"] == 2 else "wait")
    late = f" The engine has made no step for {units.duration(late_ms)}." if late_ms > _LATE_MS else ""
    return f"Stalled for {lasted}: {words}{others} ({units.counted(stall['num_steps'], 'step')} without work).{late}"
