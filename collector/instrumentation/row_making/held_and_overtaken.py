"""Which waiting requests a rule kept out of a step, and which a later arrival overtook: told once, when it begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from radixflow.collector.instrumentation.notes.step_notes import Visit
from radixflow.collector.instrumentation.row_making.request_lives import RequestLife

Lives = dict[str, RequestLife]
DEFERRED = "fragmentation"
"""Reason of a visit that the fragmentation guard deferred; with any other reason an admission rule held the request."""


def newly_held(visits: Iterable[Visit], lives: Lives) -> Iterator[tuple[RequestLife, str, str | None]]:
    """Find requests that an admission rule holds for the first time, or that the guard begins to defer.

    Yields:
        The request, the event (``held`` or ``deferred``) and the reason.
    """
    for visit in visits:
        if visit.outcome != "held":
            continue
        life = lives[visit.request.request_id]
        if visit.reason == DEFERRED:
            if not life.is_deferred:
                life.is_deferred = True
                yield life, "deferred", visit.reason
        elif not life.was_held:
            life.was_held = True
            yield life, "held", visit.reason


def newly_overtaken(visits: Iterable[Visit], lives: Lives) -> Iterator[tuple[RequestLife, RequestLife]]:
    """Find requests that, for the first time, still wait while this round selects one that arrived later.

    Yields:
        The overtaken request, and the earliest of the later arrivals.
    """
    waiting, selected = [], []
    for visit in visits:
        life = lives[visit.request.request_id]
        if visit.outcome == "selected":
            selected.append(life)
        elif life.first_selected_ns is None and not life.was_overtaken:
            waiting.append(life)
    last = max((life.number for life in selected), default=-1)
    for life in waiting:
        if life.number < last:
            life.was_overtaken = True
            yield life, min((other for other in selected if other.number > life.number), key=lambda other: other.number)
