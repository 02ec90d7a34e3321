"""A refused allocation is explained at its moment, and the queue is looked at behind those that are BLOCKED."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")

from radixflow.collector.instrumentation.notes.step_notes import ProbeResult, Visit
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.stops import refusal_explainer
from radixflow.collector.instrumentation.stops.refusal_explainer import RefusalExplainer
from radixflow.collector.vllm_adapters.scan import ScanListener
from tests.collector.streams.test_causes_of_a_refusal import BLOCK, scheduler_with
from tests.scheduler_harness import make_request, schedule_round, state_difference
from tests.scheduler_harness.cloning import clone


class Explained(ScanListener):
    """Explains the one refusal of a scan, and looks behind it."""

    def __init__(self, scan: Any, probe: str, has_reader: bool) -> None:
        self.num_shadows = 0
        self.stop: Visit | None = None
        self.found: ProbeResult | None = None
        self._visits: list[Visit] = []
        self._has_reader = has_reader
        self._explainer = RefusalExplainer(scan, RecorderSettings(Path("unused"), probe))
        native: Callable[[], Any] = scan.shadow_kv_cache

        def counted() -> Any:
            self.num_shadows += 1
            return native()

        scan.shadow_kv_cache = counted

    def visited(self, request: Any) -> None:
        self._visits.append(Visit(request, len(self._visits)))

    def looked_up(self, request: Any, hit_blocks: Any, matched_tokens: int) -> None:
        self._visits[-1].hit_blocks, self._visits[-1].matched_tokens = hit_blocks, matched_tokens

    def allocated(self, request: Any, num_tokens: int, granted: bool, arguments: Any) -> None:
        if not granted:
            self.stop = self._visits[-1]
            self._explainer.explain(self.stop, request, num_tokens, arguments, self._has_reader)
            self.found = self._explainer.look_behind(self.stop, arguments)


def blocked_scheduler() -> Any:
    """The second request awaits what the first one writes; the third would fit behind it."""
    scheduler = scheduler_with(100, max_num_batched_tokens=16 * BLOCK)
    prompt = list(range(5, 5 + 3 * BLOCK))
    for name, tokens in (("producer", [*prompt, 7]), ("consumer", [*prompt, 8]), ("other", [9] * 10)):
        scheduler.add_request(make_request(scheduler, name, tokens))
    return scheduler


def full_scheduler() -> Any:
    """Too few blocks for the second request."""
    return scheduler_with(14, range(4 * BLOCK - 1), range(4 * BLOCK), scheduler_reserve_full_isl=False)


def explained(scheduler: Any, probe: str = "full", has_reader: bool = True) -> Explained:
    scheduler.listener = Explained(scheduler, probe, has_reader)
    schedule_round(scheduler)
    assert scheduler.listener.stop is not None, "nothing was refused"
    return scheduler.listener  # type: ignore[no-any-return]


def test_a_blocked_request_is_named_with_its_state_and_what_fits_behind_it() -> None:
    heard = explained(blocked_scheduler())
    stop, found = heard.stop, heard.found
    assert stop is not None and found is not None
    assert (stop.request.request_id, stop.outcome, stop.reason) == ("consumer", "blocked", None)
    assert stop.cause == "being_written" and stop.state is not None and stop.state.mark is not None
    assert stop.state.mark.request_id == "producer"
    assert stop.matched_tokens == 3 * BLOCK and stop.ready_tokens == 0
    ready = [(visit.request.request_id, visit.outcome, visit.position) for visit in found.visits]
    assert ready == [("other", "ready", 2)] and found.end_reason == "end_of_queue"


@pytest.mark.parametrize("probe", ["off", "blocked"])
def test_nobody_looks_behind_a_stop_who_was_not_asked_to(probe: str) -> None:
    heard = explained(blocked_scheduler(), probe)
    assert heard.stop is not None and heard.stop.outcome == "blocked"
    assert heard.found is None and heard.num_shadows == 0


def test_another_refusal_has_its_reason_and_is_not_looked_behind() -> None:
    heard = explained(full_scheduler())
    assert heard.stop is not None and (heard.stop.outcome, heard.stop.reason) == ("other", "kv_blocks")
    assert heard.found is None and heard.stop.state is None


def test_a_reason_that_nobody_reads_costs_no_shadow() -> None:
    heard = explained(full_scheduler(), has_reader=False)
    assert heard.stop is not None and (heard.stop.outcome, heard.stop.reason) == ("other", None)
    assert heard.num_shadows == 0
    assert explained(full_scheduler(), has_reader=True).num_shadows == 1, "the control arm: the reason costs one"


def test_which_stops_are_looked_behind_is_one_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other arm of the checks above: with other outcomes in it, they are looked behind; with none, no stop is."""
    monkeypatch.setattr(refusal_explainer, "LOOKED_BEHIND", frozenset({"other"}))
    assert explained(full_scheduler()).found is not None
    assert explained(blocked_scheduler()).found is None


@pytest.mark.parametrize("make", [blocked_scheduler, full_scheduler])
def test_explaining_changes_nothing(make: Callable[[], Any]) -> None:
    asked = make()
    unasked = clone(asked)
    heard = explained(asked)
    schedule_round(unasked)
    asked.listener = None
    del asked.shadow_kv_cache
    asked.step_started_ns = unasked.step_started_ns  # the one thing that tells them apart
    assert state_difference(unasked, asked) == []
    assert heard.num_shadows == 1
