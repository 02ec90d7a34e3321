"""Listens to the scan of one scheduler and writes its rounds, rows, visits, events and requests."""

from __future__ import annotations

from typing import Any

from radixflow.collector.instrumentation.guard import never_raises
from radixflow.collector.instrumentation.probe import CounterfactualProbe, refused_allocation_reason
from radixflow.collector.instrumentation.prompt_blocks import PromptBlocks, hash_number
from radixflow.collector.instrumentation.publications import Publications
from radixflow.collector.instrumentation.put_off import newly_held, newly_overtaken
from radixflow.collector.instrumentation.request_lives import RequestLife
from radixflow.collector.instrumentation.round_rows import awaited_rows, slot_ledger_of, visit_facts
from radixflow.collector.instrumentation.round_sample import RoundSample
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.step_notes import StepNotes, Visit
from radixflow.collector.instrumentation.stop_reason import settle_undecided, stop_of
from radixflow.collector.instrumentation.visit_runs import VisitRuns
from radixflow.collector.vllm_adapters.scan import Refusal, ScanListener
from radixflow.schema.table_writer import SegmentWriter

ROUND_ATTRIBUTE = "radixflow_round"
"""Name under which the number of a round travels on vLLM's SchedulerOutput to the workers."""
RESET = "prefix_cache_reset"
"""Event of the whole scheduler, and the reason of the preemptions that it causes."""


class RoundRecorder(ScanListener):
    """Records one scheduler.

    Args:
        scan: The scheduler, an adapter's scan.
        writer: Where rows go; never blocks.
        settings: What to record.
    """

    def __init__(self, scan: Any, writer: SegmentWriter, settings: RecorderSettings) -> None:
        self.is_broken = False
        self._scan = scan
        self._writer = writer
        self._settings = settings
        self._lives: dict[str, RequestLife] = {}
        self._num_registered = 0
        self._num_finished = 0
        self._round = 0
        self._num_empty_steps = 0
        self._is_resetting = False
        self._notes = StepNotes(0, 0, 0)
        self._publications = Publications()
        self._visit_runs = VisitRuns()
        self._block_tokens = scan.kv_cache_manager.block_pool.hash_block_size
        self._blocks = PromptBlocks(self._block_tokens)
        if settings.records("visits"):
            writer.pull("visits", self._visit_runs.take)
        self._open_rounds: dict[int, list[Any]] = {}
        self._has_visits, self._has_events = settings.records("visits"), settings.records("events")
        self._events: list[tuple[Any, ...]] = []
        self._is_updating = False
        self._sample = RoundSample(settings.sample_rounds)
        writer.describe_by(self._facts)

    # -- requests ----------------------------------------------------------------------------------------------------

    @never_raises
    def registered(self, request: Any) -> None:
        if request.request_id in self._lives:
            return  # a streaming session goes on under its name
        now = self._scan.clock()
        hashes = request.block_hashes
        life = self._take_on(request, now, hashes[-1] if hashes else None)
        blocks = self._blocks.new_blocks(life.number, hashes)
        if blocks:
            self._writer.append("block_hashes", blocks)
        self._event(now, life, "arrived", None)

    @never_raises
    def adopt(self, request: Any, registered_ns: int, first_selected_ns: int | None) -> None:
        """Take on a request that was there before, without its blocks: those of all at once would hold up a round."""
        life = self._take_on(request, registered_ns)
        if first_selected_ns is not None:
            life.go_on(first_selected_ns, request.num_computed_tokens)

    def _take_on(self, request: Any, registered_ns: int, last_block: bytes | None = None) -> RequestLife:
        life = RequestLife(self._num_registered, request.request_id, request.num_prompt_tokens, registered_ns)
        self._lives[request.request_id] = life
        self._num_registered += 1
        row = (life.number, life.request_id, life.num_prompt_tokens, registered_ns, hash_number(last_block))
        self._writer.append("registrations", row)
        return life

    @never_raises
    def preempted(self, request: Any) -> None:
        life = self._lives[request.request_id]
        life.num_preemptions += 1
        if self._is_resetting:
            self._event(self._scan.clock(), life, "preempted", None, detail=RESET)
            return
        self._notes.num_preempted += 1
        self._event(self._scan.clock(), life, "preempted", self._round + 1)

    @never_raises
    def reset_started(self) -> None:
        self._is_resetting = True

    @never_raises
    def reset_ended(self, succeeded: bool) -> None:
        self._is_resetting = False
        self._event(self._scan.clock(), None, RESET, None, detail="done" if succeeded else "refused")
        self._write_events()

    @never_raises
    def finished(self, request: Any) -> None:
        life = self._lives.pop(request.request_id, None)
        if life is None:
            return
        now = self._scan.clock()
        outcome = "aborted" if request.status.name in ("FINISHED_ABORTED", "FINISHED_ERROR") else "finished"
        self._num_finished += 1
        self._event(now, life, outcome, None)
        self._writer.append("requests", life.as_row(now, request.num_output_tokens, outcome))
        if not self._is_updating:  # aborted: perhaps nothing else happens for long
            self._write_events()

    # -- the scan of one step ----------------------------------------------------------------------------------------

    @never_raises
    def step_started(self) -> None:
        scan = self._scan
        self._sample.draw()
        self._notes = StepNotes(scan.step_started_ns, len(scan.running), scan.num_waiting_requests())

    @never_raises
    def released(self, request: Any, reason: str) -> None:
        life = self._lives[request.request_id]
        life.released_ns = self._scan.step_started_ns
        self._event(self._scan.step_started_ns, life, "released", None, detail=reason)

    @never_raises
    def visited(self, request: Any) -> None:
        self._notes.visits.append(Visit(request, len(self._notes.visits)))

    @never_raises
    def skipped(self, request: Any, refusal: Refusal) -> None:
        visit = self._notes.current
        visit.skipped = True
        visit.outcome, visit.reason, visit.state = refusal.outcome, refusal.reason, refusal.state
        if refusal.state is not None:
            visit.matched_tokens = refusal.state.matched_tokens

    @never_raises
    def looked_up(self, request: Any, hit_blocks: Any, matched_tokens: int) -> None:
        visit = self._notes.current
        visit.hit_blocks, visit.matched_tokens = hit_blocks, matched_tokens

    @never_raises
    def split(self, request: Any, num_tokens: int) -> None:
        if self._notes.visits and self._notes.current.request is request:
            self._notes.current.split_tokens = num_tokens

    @never_raises
    def allocated(self, request: Any, num_tokens: int, granted: bool, arguments: Any) -> None:
        visit = self._notes.current
        if granted:
            visit.outcome, visit.num_tokens = "selected", num_tokens
            return
        started_ns = self._scan.clock()
        self._explain_refusal(visit, request, num_tokens, arguments)
        probe_ns = self._notes.probe.duration_ns if self._notes.probe else 0
        self._notes.recorder_ns += self._scan.clock() - started_ns - probe_ns

    def _explain_refusal(self, visit: Visit, request: Any, num_tokens: int, arguments: Any) -> None:
        if visit.hit_blocks is not None and visit.matched_tokens is not None:
            visit.state = self._scan.refusal_of_hit(visit.hit_blocks, visit.matched_tokens)
        if visit.state is None:
            visit.outcome = "other"
            if not self._sample.is_kept:
                return  # nobody will read the reason
            shadow = self._scan.shadow_kv_cache()
            blocks = shadow.copied_blocks(arguments["new_computed_blocks"])  # a grant would touch them
            visit.reason = refused_allocation_reason(
                shadow, request, num_tokens, arguments | {"new_computed_blocks": blocks}
            )
            return
        visit.outcome = "blocked"
        if self._settings.probe == "full" and self._sample.is_kept:
            self._probe(visit, arguments)

    def _probe(self, stop: Visit, arguments: dict[str, Any]) -> None:
        probe = CounterfactualProbe(self._scan, arguments, self._settings.probe_cap)
        stop.ready_tokens = probe.ready_tokens_of(stop.request)
        self._notes.probe = probe.run(stop.position + 1)

    @never_raises
    def step_ended(self, output: Any) -> None:
        notes = self._notes
        processing_ns = self._scan.clock()
        ended_ns = processing_ns - notes.recorder_ns - (notes.probe.duration_ns if notes.probe else 0)
        settle_undecided(self._scan, notes)
        round_number = self._round + 1 if output.num_scheduled_tokens else None
        for life, event, reason in newly_held(notes.visits, self._lives) if notes.visits else ():
            self._event(notes.started_ns, life, event, round_number, detail=reason)
        if not output.num_scheduled_tokens:
            self._num_empty_steps += 1
            self._write_events()
            return
        self._round += 1
        self._sample.count(output.num_scheduled_tokens, self._num_empty_steps, notes.visits)
        if not self._sample.is_kept:
            self._pass_over(output.num_scheduled_tokens)
            return
        setattr(output, ROUND_ATTRIBUTE, self._round)
        places = self._write_visits()
        kinds = self._write_rows(output.num_scheduled_tokens, places)
        self._write_events()
        row = self._round_row(output.num_scheduled_tokens, kinds, ended_ns)
        row[-1] = notes.recorder_ns + self._scan.clock() - processing_ns
        self._open_rounds[self._round] = row
        self._num_empty_steps = 0

    def _pass_over(self, scheduled: dict[str, int]) -> None:
        """A round that is not kept: what it does to requests counts, and nothing else is written of it."""
        self._tell_put_off()
        self._write_rows(scheduled, {})
        self._write_events()
        self._num_empty_steps = 0

    # -- rows of a round ---------------------------------------------------------------------------------------------

    def _write_rows(self, scheduled: dict[str, int], places: dict[str, int]) -> list[str]:
        """Write the rows of a round; returns the kinds of those that came from the waiting queue."""
        number, requests, lives = self._round, self._scan.requests, self._lives
        selected = {visit.request.request_id: visit for visit in self._notes.visits if visit.outcome == "selected"}
        written = self._publications.publish(self._scan.state_marks(), lives, number)
        rows: list[tuple[Any, ...]] = []
        repeated: list[tuple[Any, ...]] = []
        kinds: list[str] = []
        for slot, (request_id, num_tokens) in enumerate(scheduled.items()):
            request, life = requests[request_id], lives[request_id]
            first_token = request.num_computed_tokens - num_tokens
            if first_token > life.computed_end:
                life.noted_end = first_token  # what lies between came from the cache
            end = first_token + num_tokens
            if end - life.noted_end >= self._block_tokens:  # a block may end in another row than it began in
                repeated += self._blocks.repeated(life.number, request.block_hashes, life.noted_end, end, number)
                life.noted_end = end // self._block_tokens * self._block_tokens
            published = hash_number(written[request_id]) if request_id in written else None
            if request_id not in selected:
                life.add_row(first_token, num_tokens, False)
                rows.append((number, slot, life.number, "running", None, first_token, num_tokens, 0, None, published))
                continue
            life.add_row(first_token, num_tokens, True)
            kinds.append("resumed" if request.num_preemptions else "new")
            restored = hash_number(self._scan.deepest_state(selected[request_id].hit_blocks))
            rows.append((
                number, slot, life.number, kinds[-1], places.get(request_id), first_token, num_tokens, first_token,
                restored, published,
            ))  # fmt: skip
            self._select(life, kinds[-1])
        if self._sample.is_kept:
            self._writer.append("rows", rows)
        if repeated:
            self._writer.append("repeated_blocks", repeated)
        return kinds

    def _select(self, life: RequestLife, kind: str) -> None:
        started_ns = self._notes.started_ns
        life.is_deferred = False
        if life.first_selected_ns is None:
            life.first_selected_ns, life.first_selected_round = started_ns, self._round
            if life.released_ns is None:
                life.released_ns = life.registered_ns  # nobody held it
        self._event(started_ns, life, "resumed" if kind == "resumed" else "selected", self._round)
        if life.blocked_since_round is not None:
            num_rounds = self._round - life.blocked_since_round
            life.blocked_since_round = None
            self._event(started_ns, life, "recovered", self._round, num_rounds=num_rounds)

    def _write_visits(self) -> dict[str, int]:
        """Write what was looked at and not taken; returns the places of the selected requests in the scan."""
        visits, lives = self._notes.all_visits(), self._lives
        if not visits:
            return {}
        seen = [
            (lives[visit.request.request_id].number, None if visit.outcome == "selected" else visit_facts(visit))
            for visit in visits
        ]
        places, ended = self._visit_runs.add_round(self._round, seen)
        if self._has_visits:
            awaited = awaited_rows(self._round, visits, lives, self._publications)
            for table, rows in (("visits", ended), ("awaited_states", awaited)):
                if rows:
                    self._writer.append(table, rows)
        self._tell_put_off()
        pairs = zip(visits, places, strict=True)
        return {visit.request.request_id: place for visit, place in pairs if visit.outcome == "selected"}

    def _tell_put_off(self) -> None:
        for visit in self._notes.visits:
            if visit.outcome == "blocked":
                self._block(visit)
        for life, overtaker in newly_overtaken(self._notes.visits, self._lives):
            self._event(self._notes.started_ns, life, "overtaken", self._round, overtaker)

    def _block(self, visit: Visit) -> None:
        life = self._lives[visit.request.request_id]
        life.num_blocked_visits += 1
        if life.blocked_since_round is None:
            life.blocked_since_round = self._round
            mark = visit.state.mark if visit.state is not None else None
            producer = self._lives.get(mark.request_id) if mark is not None else None
            self._event(self._notes.started_ns, life, "blocked", self._round, producer, visit.cause)

    def _round_row(self, scheduled: dict[str, int], kinds: list[str], ended_ns: int) -> list[Any]:
        scan, notes = self._scan, self._notes
        stop_reason, stop = stop_of(scan, notes)
        visits = notes.all_visits()
        probe = notes.probe
        row = [self._round, notes.started_ns, ended_ns, scan.max_num_running_reqs]
        row += slot_ledger_of(scan, notes, scheduled, stop_reason)
        row += [
            scan.max_num_scheduled_tokens, sum(scheduled.values()),
            sum(visit.num_tokens or 0 for visit in visits if visit.outcome == "ready") if probe else 0,
            kinds.count("new"), kinds.count("resumed"), len(scheduled) - len(kinds),
            notes.num_running_before, notes.num_waiting_before, scan.num_waiting_requests(),
            sum(visit.outcome == "held" for visit in visits), len(notes.visits),
            sum(visit.outcome == "blocked" for visit in notes.visits), len(probe.visits) if probe else 0,
            notes.num_preempted, stop_reason,
            self._lives[stop.request.request_id].number if stop is not None else None,
            stop.cause if stop is not None else None,
            probe.end_reason if probe else None, scan.kv_cache_manager.block_pool.get_num_free_blocks(),
            self._num_empty_steps, None, None, probe.duration_ns if probe else None, 0,
        ]  # fmt: skip
        return row

    # -- the end of a round ------------------------------------------------------------------------------------------

    @never_raises
    def update_started(self, output: Any) -> None:
        self._is_updating = True
        row = self._open_rounds.get(getattr(output, ROUND_ATTRIBUTE, 0))
        if row is not None:
            row[-4] = self._scan.clock()

    @never_raises
    def update_ended(self, output: Any) -> None:
        round_number = getattr(output, ROUND_ATTRIBUTE, 0)
        row = self._open_rounds.pop(round_number, None)
        if row is not None:
            row[-3] = self._scan.clock()
            self._publications.complete(round_number, row[-3])
            self._writer.append("rounds", tuple(row))
        self._is_updating = False
        self._write_events()

    def _facts(self) -> dict[str, Any]:
        return {"num_rounds": self._round, "num_requests_finished": self._num_finished, **self._sample.facts()}

    @property
    def has_open_rounds(self) -> bool:
        """Whether the output of a round has not been processed yet."""
        return bool(self._open_rounds)

    @never_raises
    def end_requests(self) -> None:
        """Write the requests that have not ended: this recording sees no more of them."""
        for life in self._lives.values():
            request = self._scan.requests.get(life.request_id)
            num_output_tokens = request.num_output_tokens if request is not None else 0
            self._writer.append("requests", life.as_row(None, num_output_tokens, "unfinished"))
        self._lives.clear()
        self._write_events()

    @never_raises
    def closed(self) -> None:
        for row in self._open_rounds.values():
            self._writer.append("rounds", tuple(row))
        self.end_requests()
        self._writer.close()

    def let_go(self, sentence: str) -> None:
        """Keep what was recorded and stop; the scan may be between two hooks, so it keeps its (now deaf) listener."""
        self._write_events()
        self._writer.close(timeout=0, fault=sentence)

    def _event(
        self, time_ns: int, life: RequestLife | None, event: str, round_number: int | None,
        other: RequestLife | None = None, detail: str | None = None, num_rounds: int | None = None,
    ) -> None:  # fmt: skip
        if self._has_events:
            other_number = other.number if other is not None else None
            number = life.number if life is not None else None
            self._events.append((time_ns, number, event, round_number, other_number, detail, num_rounds))

    def _write_events(self) -> None:
        """Once a step and once an update, not for every event."""
        if self._events:
            events, self._events = self._events, []
            self._writer.append("events", events)
