"""Stores visits that find the same in consecutive rounds as one row with a first and a last round."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from radixflow.schema.tables.visits import MAXIMUM_VISIT_ROUNDS

Facts = tuple[Any, ...]
"""What a visit found: the columns of table ``visits`` from ``witness`` on."""

_SPACING = 1_000
"""Distance between the places given to a queue at first, so that a request can be put in between later."""
_STALE_ALLOWED = 1_000


@dataclass(slots=True)
class _OpenRun:
    place: int
    first_round: int
    last_round: int
    facts: Facts

    def as_row(self, request: int) -> tuple[Any, ...]:
        return (self.first_round, self.last_round, self.place, request, *self.facts)


class VisitRuns:
    """Joins visits of the same request in consecutive rounds that found the same.

    A request keeps its *place* while its run goes on, so places are comparable within a round only. Rounds are added
    by the engine's thread; :meth:`take` may be called by another one between them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[int, _OpenRun] = {}

    def add_round(
        self, round_number: int, visits: Iterable[tuple[int, Facts | None]]
    ) -> tuple[list[int], list[tuple[Any, ...]]]:
        """Add the visits of one round.

        Args:
            round_number: The round; greater than that of the call before.
            visits: Number of the request, and what was found (None: it was selected), in the order of the scan.

        Returns:
            The place of each visit, ascending, and rows of table ``visits`` whose runs are over.
        """
        places: list[int] = []
        ended: list[tuple[Any, ...]] = []
        with self._lock:
            step = 1 if self._open else _SPACING
            place = -step
            for request, facts in visits:
                run = self._open.get(request)
                place = run.place if run is not None and run.place > place else place + step
                places.append(place)
                if run is not None and _goes_on(run, round_number, place, facts):
                    run.last_round = round_number
                    continue
                if run is not None:
                    ended.append(run.as_row(request))
                    del self._open[request]
                if facts is not None:
                    self._open[request] = _OpenRun(place, round_number, round_number, facts)
            if len(self._open) > 2 * len(places) + _STALE_ALLOWED:
                ended += self._end_stale(round_number)
        return places, ended

    def take(self) -> list[tuple[Any, ...]]:
        """Rows of every run so far; visits that follow start runs of their own."""
        with self._lock:
            runs, self._open = self._open, {}
        return [run.as_row(request) for request, run in runs.items()]

    def _end_stale(self, round_number: int) -> list[tuple[Any, ...]]:
        """End the runs of requests that were not visited any more."""
        stale = [request for request, run in self._open.items() if run.last_round != round_number]
        return [self._open.pop(request).as_row(request) for request in stale]


def _goes_on(run: _OpenRun, round_number: int, place: int, facts: Facts | None) -> bool:
    return (
        run.last_round == round_number - 1
        and run.place == place
        and run.facts == facts
        and round_number - run.first_round < MAXIMUM_VISIT_ROUNDS
    )
