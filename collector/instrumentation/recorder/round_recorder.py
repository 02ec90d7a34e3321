"""Listens to the scan of one scheduler and notes what happens; the rows are made later, in the writer's thread."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from radixflow.collector.instrumentation.guard import give_up, never_raises
from radixflow.collector.instrumentation.notes.round_attribute import ROUND_ATTRIBUTE
from radixflow.collector.instrumentation.notes.stall_notes import Stall
from radixflow.collector.instrumentation.notes.step_notes import StepNotes, Visit
from radixflow.collector.instrumentation.recorder.finished_steps import finished_step
from radixflow.collector.instrumentation.recorder.note_tape import NoteTape
from radixflow.collector.instrumentation.recorder.round_sample import RoundSample
from radixflow.collector.instrumentation.recorder.stall_watch import StallWatch
from radixflow.collector.instrumentation.row_making.request_rows import RESET
from radixflow.collector.instrumentation.row_making.round_rows import Limits
from radixflow.collector.instrumentation.row_making.row_maker import RowMaker
from radixflow.collector.instrumentation.row_making.stall_rows import stall_status
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.stops.refusal_explainer import RefusalExplainer
from radixflow.collector.instrumentation.stops.stop_reason import settle_undecided
from radixflow.collector.vllm_adapters.scan import Refusal, ScanListener
from radixflow.schema.writing.segment_writer import SegmentWriter

NO_VISIT = Visit(None, -1)
"""Stands for the current visit before the scan has made its first one."""


class RoundRecorder(ScanListener):
    """Records one scheduler.

    A hook notes what will have changed by the time it is read, and nothing more: everything else can wait for a thread
    that nobody waits for. A note is a method of the row maker and its arguments.

    Args:
        scan: The scheduler, an adapter's scan.
        writer: Where rows go; never blocks.
        settings: What to record.

    Attributes:
        outputs_in_flight: Identities of the outputs of rounds, kept or not, that have not been processed yet.
    """

    def __init__(self, scan: Any, writer: SegmentWriter, settings: RecorderSettings) -> None:
        self.is_broken = False
        self._scan = scan
        self._writer = writer
        self._round = 0
        self._num_empty_steps = 0
        self._num_empty_steps_in_all = 0
        self._is_resetting = False
        self._update_started_ns = 0
        self._in_flight: set[int] = set()
        self.outputs_in_flight: set[int] = set()
        self._notes = StepNotes(0, 0, 0)
        self._visit = NO_VISIT
        self._put_off: list[tuple[str, str | None, str | None]] = []
        self._sample = RoundSample(settings.sample_rounds)
        most_rows = min(scan.max_num_running_reqs, getattr(scan, "max_num_active_reqs", scan.max_num_running_reqs))
        limits = Limits(most_rows, scan.max_num_scheduled_tokens)
        self.maker = RowMaker(writer, settings, scan.kv_cache_manager.block_pool.hash_block_size, limits)
        self._explainer = RefusalExplainer(scan, settings)
        self._stalls = StallWatch(scan, self._note_stall)
        self._tape = NoteTape(self.maker.write_events, self._fail_to_make_rows)
        self._note = self._tape.note
        self._is_scheduling = False
        writer.describe(records_stalls=settings.records("stalls"))
        writer.describe_by(self._facts)
        writer.collect_by(self._tape.read_for_writer)

    # -- requests ----------------------------------------------------------------------------------------------------

    @never_raises
    def registered(self, request: Any) -> None:
        self._explainer.epoch += 1
        self._note((self.maker.registered, self._scan.clock(), request, len(request.block_hashes)))

    @never_raises
    def adopt(self, request: Any, registered_ns: int, first_selected_ns: int | None) -> None:
        """Take on a request that was there before, without its blocks: those of all at once would take too long."""
        num_computed_tokens = request.num_computed_tokens
        self._note((self.maker.adopted, request, registered_ns, first_selected_ns, num_computed_tokens))

    @never_raises
    def preempted(self, request: Any) -> None:
        self._explainer.epoch += 1
        now_ns, request_id = self._scan.clock(), request.request_id
        if self._is_scheduling:  # whether the step is a round is known when it ends
            self._notes.num_preempted += 1
            self._notes.preempted.append((now_ns, request_id))
        else:
            self._note((self.maker.preempted, now_ns, request_id, None, RESET if self._is_resetting else None))

    @never_raises
    def reset_started(self) -> None:
        self._is_resetting = True

    @never_raises
    def reset_ended(self, succeeded: bool) -> None:
        self._is_resetting = False
        self._explainer.epoch += 1
        self._note((self.maker.reset, self._scan.clock(), "done" if succeeded else "refused"))

    @never_raises
    def finished(self, request: Any) -> None:
        self._explainer.epoch += 1
        self._stalls.request_ended(request.request_id)
        self._note_preemptions(None)  # of a request that ends in the very step that preempted it
        ended = (self._scan.clock(), request.request_id, request.status, request.num_output_tokens)
        self._note((self.maker.finished, *ended))

    # -- the scan of one step ----------------------------------------------------------------------------------------

    @never_raises
    def step_started(self) -> None:
        scan = self._scan
        self._is_scheduling = True
        self._sample.draw()
        self._visit = NO_VISIT
        self._note_preemptions(None)  # of a step that raised
        self._notes = StepNotes(scan.step_started_ns, len(scan.running), scan.num_waiting_requests())
        self._notes.tokens_at_start = scan.budget.tokens_left

    @never_raises
    def released(self, request: Any, reason: str) -> None:
        self._note((self.maker.released, self._scan.step_started_ns, request.request_id, reason))

    @never_raises
    def visited(self, request: Any) -> None:
        visits = self._notes.visits
        self._visit = Visit(request, len(visits))
        visits.append(self._visit)

    @never_raises
    def skipped(self, request: Any, refusal: Refusal) -> None:
        visit = self._visit
        visit.skipped = True
        visit.outcome, visit.reason, visit.state = refusal.outcome, refusal.reason, refusal.state
        if refusal.state is not None:
            visit.matched_tokens = refusal.state.matched_tokens

    @never_raises
    def looked_up(self, request: Any, hit_blocks: Any, matched_tokens: int) -> None:
        visit = self._visit
        visit.hit_blocks, visit.matched_tokens = hit_blocks, matched_tokens

    @never_raises
    def split(self, request: Any, num_tokens: int) -> None:
        if self._visit.request is request:
            self._visit.split_tokens = num_tokens

    @never_raises
    def allocated(self, request: Any, num_tokens: int, granted: bool, arguments: Any) -> None:
        visit = self._visit
        if granted and arguments.get("delay_cache_blocks"):  # loaded between steps: it has blocks and no row
            visit.outcome, visit.reason, visit.skipped = "other", "remote_kv", True
            return
        if granted:
            visit.outcome, visit.num_tokens = "selected", num_tokens
            return
        self._refused(visit, request, num_tokens, arguments)

    def _refused(self, visit: Visit, request: Any, num_tokens: int, arguments: dict[str, Any]) -> None:
        notes, is_kept, started_ns = self._notes, self._sample.is_kept, self._scan.clock()
        is_empty_so_far = self._scan.budget.tokens_left == notes.tokens_at_start  # then it stays so: a scan ends here
        self._explainer.explain(visit, request, num_tokens, arguments, has_reader=is_kept or is_empty_so_far)
        if is_kept:
            notes.probe = self._explainer.look_behind(visit, arguments)
        probe_ns = notes.probe.duration_ns if notes.probe else 0
        notes.recorder_ns += self._scan.clock() - started_ns - probe_ns

    @never_raises
    def step_ended(self, output: Any) -> None:
        scan, notes, scheduled = self._scan, self._notes, output.num_scheduled_tokens
        processing_ns = scan.clock()
        if notes.visits:
            settle_undecided(scan, notes)
        self._is_scheduling = False
        if scheduled:
            self._end_round(output, processing_ns)
        else:
            self._end_empty_step(processing_ns)
        self._tape.keep_short()

    def _end_round(self, output: Any, processing_ns: int) -> None:
        scheduled = output.num_scheduled_tokens
        self._stalls.end()
        self._put_off = []
        self._round += 1
        self._explainer.epoch += 1
        self._note_preemptions(self._round)
        self._sample.count(scheduled, self._notes.visits)
        self.outputs_in_flight.add(id(output))
        if self._sample.is_kept:
            setattr(output, ROUND_ATTRIBUTE, self._round)
            self._in_flight.add(self._round)
        self._note_step(scheduled, processing_ns)
        self._num_empty_steps = 0

    def _end_empty_step(self, processing_ns: int) -> None:
        notes = self._notes
        self._num_empty_steps += 1
        self._num_empty_steps_in_all += 1
        self._sample.count_empty_step()
        self._note_preemptions(None)
        put_off: list[tuple[str, str | None, str | None]] = [
            (visit.request.request_id, visit.outcome, visit.reason)
            for visit in notes.visits
            if visit.outcome in ("held", "blocked")
        ]
        if put_off and put_off != self._put_off:  # the same again is nothing new
            self._put_off = put_off
            self._note((self.maker.found_nothing, notes))
        num_in_flight = len(self.outputs_in_flight)
        if num_in_flight and not self._sample.is_whole:
            self._stalls.end()  # a pause between two rounds, of which a sample has few
        else:
            self._stalls.add(notes, self._round, num_in_flight, processing_ns)

    def _note_stall(self, stall: Stall) -> None:
        self._note((self.maker.stalled, stall))

    def _note_preemptions(self, round_number: int | None) -> None:
        preempted = self._notes.preempted
        if preempted:
            self._notes.preempted = []
            for time_ns, request_id in preempted:
                self._note((self.maker.preempted, time_ns, request_id, round_number, None))

    def _note_step(self, scheduled: dict[str, int], processing_ns: int) -> None:
        step = finished_step(
            self._scan, self._notes, scheduled, self._round, self._num_empty_steps, self._sample.is_kept, processing_ns
        )
        self._note((self.maker.scheduled, step))

    # -- the end of a round ------------------------------------------------------------------------------------------

    @never_raises
    def update_started(self, output: Any) -> None:
        self._update_started_ns = self._scan.clock()

    @never_raises
    def update_ended(self, output: Any) -> None:
        self.other_update_ended(output)
        round_number = getattr(output, ROUND_ATTRIBUTE, 0)
        if round_number in self._in_flight:
            self._in_flight.discard(round_number)
            self._note((self.maker.processed, round_number, self._update_started_ns, self._scan.clock()))

    @never_raises
    def other_update_ended(self, output: Any) -> None:
        """The output of a step was processed, whether this recording has anything to say of it or not."""
        if output.num_scheduled_tokens or self._scan.connector is not None:  # else nothing can have changed
            self._explainer.epoch += 1
        self.outputs_in_flight.discard(id(output))

    @property
    def has_open_rounds(self) -> bool:
        """Whether the output of a round has not been processed yet."""
        return bool(self._in_flight)

    @never_raises
    def end_requests(self) -> None:
        """Write the stall that goes on, and the requests that have not ended: this recording sees no more of them."""
        self._stalls.end()
        self._note_preemptions(None)
        alive = {name: request.num_output_tokens for name, request in self._scan.requests.items()}
        self._note((self.maker.ended_alive, alive))

    @never_raises
    def closed(self) -> None:
        self._note((self.maker.end_rounds,))
        self.end_requests()
        self.read()
        self._writer.close()

    def let_go(self, sentence: str) -> None:
        """Write what was noted, record no more, and keep the sentence in the run.

        The scheduler keeps this listener, since a scan may be going on; its hooks do nothing from now on.
        """
        with suppress(Exception):  # the sentence is about the first failure
            self.read()
        self._writer.close(timeout=0, fault=sentence)

    # -- from notes to rows ------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Make the rows of everything noted so far.

        Raises:
            Exception: What the making of rows raised.
        """
        self._tape.read()

    def _fail_to_make_rows(self, error: Exception) -> None:
        """End the recording as a failure in a hook does; told by the writer's thread."""
        if not self.is_broken:
            give_up(self, "the making of rows", error)

    def _facts(self) -> dict[str, Any]:
        maker, stall = self.maker, self._stalls.current
        return {
            "num_rounds": maker.num_rounds, "num_requests_finished": maker.num_finished,
            "num_empty_steps": self._num_empty_steps_in_all,
            "stall": None if stall is None else stall_status(stall, maker.lives, self._scan.clock()),
            **self._sample.facts(),
        }  # fmt: skip
