"""Turns the notes of one finished step into rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from radixflow.collector.instrumentation.notes.step_notes import FinishedStep, Visit
from radixflow.collector.instrumentation.row_making.prompt_blocks import hash_number
from radixflow.collector.instrumentation.row_making.publications import Publications
from radixflow.collector.instrumentation.row_making.request_lives import RequestLife
from radixflow.collector.instrumentation.row_making.slot_ledger import (
    TOKEN_REASONS,
    Demand,
    SlotLedger,
    close_slot_ledger,
)
from radixflow.collector.instrumentation.row_making.visit_runs import Facts
from radixflow.collector.instrumentation.stops.stop_reason import stop_of


class Limits(NamedTuple):
    """The limits of every round of a scheduler: its row capacity and its token budget."""

    rows: int
    tokens: int


def slot_ledger_of(step: FinishedStep, capacity: int, stop_reason: str) -> SlotLedger:
    """The slot ledger of a round, from the scan, the probe and what is left in the queues."""
    notes = step.notes
    visits = notes.all_visits()
    outcomes = [visit.outcome for visit in visits if visit.outcome != "selected"]
    ready, blocked, held = (outcomes.count(outcome) for outcome in ("ready", "blocked", "held"))
    skipped = sum(visit.skipped and visit.outcome == "other" for visit in visits)
    behind = step.num_waiting - ready - blocked - held - skipped
    last_reason = notes.probe.end_reason if notes.probe else stop_reason
    for_tokens = last_reason in TOKEN_REASONS
    demand = Demand(
        idle_token_limited=step.num_idle_for_tokens,
        idle_other=step.num_idle - step.num_idle_for_tokens,
        ready=ready,
        blocked=blocked,
        held=held,
        token_limited=behind if for_tokens else 0,
        other=skipped if for_tokens else skipped + behind,
    )
    return close_slot_ledger(capacity, len(step.rows), demand)


def round_row(step: FinishedStep, limits: Limits, kinds: list[str], lives: dict[str, RequestLife]) -> list[Any]:
    """The row of table ``rounds``; start and end of the update are not known yet (``UPDATE_START``, ``UPDATE_END``).

    Args:
        step: The step.
        limits: What its rows and tokens are bounded by.
        kinds: ``new`` or ``resumed``, for each row that came from the waiting queue.
        lives: The requests.
    """
    notes, probe = step.notes, step.notes.probe
    stop_reason, stop = stop_of(step)
    stop_request = None if stop is None else lives[stop.request.request_id].number
    visits = notes.all_visits()
    ready = [visit.num_tokens or 0 for visit in visits if visit.outcome == "ready"] if probe else []
    return [
        step.round_number, notes.started_ns, step.ended_ns, limits.rows,
        *slot_ledger_of(step, limits.rows, stop_reason), limits.tokens,
        sum(num_tokens for _, num_tokens, *_ in step.rows), sum(ready),
        kinds.count("new"), kinds.count("resumed"), len(step.rows) - len(kinds),
        notes.num_running_before, notes.num_waiting_before, step.num_waiting,
        sum(visit.outcome == "held" for visit in visits), len(notes.visits),
        sum(visit.outcome == "blocked" for visit in notes.visits), len(probe.visits) if probe else 0,
        notes.num_preempted, stop_reason, stop_request, stop.cause if stop is not None else None,
        probe.end_reason if probe else None, step.num_free_blocks, step.num_empty_steps,
        None, None, probe.duration_ns if probe else None, step.recorder_ns,
    ]  # fmt: skip


UPDATE_START, UPDATE_END = -4, -3
"""Positions, in a row of ``rounds``, of the two times that are filled in when the output of the round is processed."""


def visit_facts(visit: Visit) -> Facts:
    """Return what a visit found that did not select its request: columns of table ``visits`` from ``witness`` on."""
    state = visit.state
    return (
        visit.witness, visit.outcome, visit.reason, visit.cause, visit.matched_tokens, visit.ready_tokens,
        hash_number(state.awaited_hash) if state is not None else None, visit.num_tokens,
    )  # fmt: skip


def awaited_rows(
    round_number: int, visits: Iterable[Visit], lives: dict[str, RequestLife], publications: Publications
) -> list[tuple[Any, ...]]:
    """The rows of table ``awaited_states`` for a round: within one, a state has one mark, the first that was set."""
    states: dict[bytes, list[Any]] = {}
    for visit in visits:
        if visit.outcome != "blocked" or visit.state is None:
            continue
        awaited = visit.state.awaited_hash
        if awaited not in states:
            mark = visit.state.mark
            producer = lives.get(mark.request_id) if mark is not None else None
            published = publications.of(awaited) if visit.cause == "marked_again" else None
            number = producer.number if producer is not None else None
            state = [round_number, hash_number(awaited), visit.cause, number]
            state += [None] if published is None else [published.round_number]
            state += [0, 0]
            state += [None, None] if published is None else [published.request, published.completed_ns]
            states[awaited] = state
        states[awaited][5 if visit.witness == "native" else 6] += 1
    return [tuple(state) for state in states.values()]
