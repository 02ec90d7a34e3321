"""Turns the notes of one finished step into rows of the tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from radixflow.collector.instrumentation.prompt_blocks import hash_number
from radixflow.collector.instrumentation.publications import Publications
from radixflow.collector.instrumentation.request_lives import RequestLife
from radixflow.collector.instrumentation.slot_ledger import TOKEN_REASONS, Demand, SlotLedger, close_slot_ledger
from radixflow.collector.instrumentation.step_notes import StepNotes, Visit
from radixflow.collector.instrumentation.visit_runs import Facts


def slot_ledger_of(scan: Any, notes: StepNotes, scheduled: dict[str, int], stop_reason: str) -> SlotLedger:
    """The slot ledger of a round, from the scan, the probe and what is left in the queues."""
    idle = []
    if len(scan.running) != len(scheduled):  # most often every running request has its row
        idle = [request for request in scan.running if request.request_id not in scheduled]
    idle_for_tokens = sum(request.num_computed_tokens < request.num_tokens for request in idle)
    visits = notes.all_visits()
    outcomes = [visit.outcome for visit in visits if visit.outcome != "selected"]
    ready, blocked, held = (outcomes.count(outcome) for outcome in ("ready", "blocked", "held"))
    skipped = sum(visit.skipped and visit.outcome == "other" for visit in visits)
    behind = scan.num_waiting_requests() - ready - blocked - held - skipped
    last_reason = notes.probe.end_reason if notes.probe else stop_reason
    for_tokens = last_reason in TOKEN_REASONS
    demand = Demand(
        idle_token_limited=idle_for_tokens,
        idle_other=len(idle) - idle_for_tokens,
        ready=ready,
        blocked=blocked,
        held=held,
        token_limited=behind if for_tokens else 0,
        other=skipped if for_tokens else skipped + behind,
    )
    return close_slot_ledger(scan.max_num_running_reqs, len(scheduled), demand)


def visit_facts(visit: Visit) -> Facts:
    """What a visit that did not select found: the columns of table ``visits`` from ``witness`` on."""
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
