"""Makes the rows of every table from what was noted, in the order in which it happened."""

from __future__ import annotations

from typing import Any

from radixflow.collector.instrumentation.notes.step_notes import FinishedStep, StepNotes, Visit
from radixflow.collector.instrumentation.row_making.held_and_overtaken import newly_overtaken
from radixflow.collector.instrumentation.row_making.prompt_blocks import hash_number
from radixflow.collector.instrumentation.row_making.publications import Publications
from radixflow.collector.instrumentation.row_making.request_lives import RequestLife
from radixflow.collector.instrumentation.row_making.request_rows import RequestRows, Row
from radixflow.collector.instrumentation.row_making.round_rows import (
    UPDATE_END,
    UPDATE_START,
    Limits,
    awaited_rows,
    round_row,
    visit_facts,
)
from radixflow.collector.instrumentation.row_making.visit_runs import VisitRuns
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.schema.writing.segment_writer import SegmentWriter


class RowMaker(RequestRows):
    """Follows every round as well; like its base it asks nothing of the scheduler.

    Args:
        writer: Where rows go.
        settings: What to record.
        block_tokens: Tokens of one hashed block.
        limits: What holds for every round.
    """

    def __init__(self, writer: SegmentWriter, settings: RecorderSettings, block_tokens: int, limits: Limits) -> None:
        super().__init__(writer, settings, block_tokens)
        self.num_rounds = 0
        self.open_rounds: dict[int, list[Any]] = {}
        self._limits = limits
        self._block_tokens = block_tokens
        self._publications = Publications()
        self._visit_runs = VisitRuns()
        self._has_visits = settings.records("visits")
        if self._has_visits:
            writer.pull("visits", self._visit_runs.take)

    def scheduled(self, step: FinishedStep) -> None:
        """A step scheduled something."""
        self.num_rounds = step.round_number
        self.kept_waiting(step.notes, step.round_number)
        if not step.is_kept:
            self._tell_of_waiting(step)
            self._make_rows(step, {})
            return
        kinds = self._make_rows(step, self._make_visits(step))
        self.open_rounds[step.round_number] = round_row(step, self._limits, kinds, self.lives)

    def processed(self, round_number: int, started_ns: int, ended_ns: int) -> None:
        """The output of a round has been processed."""
        row = self.open_rounds.pop(round_number, None)
        if row is not None:
            row[UPDATE_START], row[UPDATE_END] = started_ns, ended_ns
            self._publications.complete(round_number, ended_ns)
            self._writer.append("rounds", tuple(row))

    def end_rounds(self) -> None:
        """Write the rounds whose output was never processed."""
        for row in self.open_rounds.values():
            self._writer.append("rounds", tuple(row))
        self.open_rounds.clear()

    def found_nothing(self, notes: StepNotes) -> None:
        """A step scheduled nothing: what happened to the waiting requests in it is in no round."""
        self.kept_waiting(notes, None)
        for visit in notes.visits:
            if visit.outcome == "blocked":
                self._block(visit, notes.started_ns, None)

    def _make_rows(self, step: FinishedStep, places: dict[str, int]) -> list[str]:
        """Make the rows of a round; returns the kinds of those that came from the waiting queue."""
        number = step.round_number
        selected = {visit.request.request_id: visit for visit in step.notes.visits if visit.outcome == "selected"}
        written = self._publications.publish(step.marks, self.lives, number)
        rows: list[Row] = []
        repeated: list[Row] = []
        kinds: list[str] = []
        for slot, (request, num_tokens, end, num_hashes) in enumerate(step.rows):
            request_id = request.request_id
            life, first_token = self.lives[request_id], end - num_tokens
            if first_token > life.computed_end:
                life.noted_end = first_token  # what lies between came from the cache
            if end - life.noted_end >= self._block_tokens:  # a block may end in another row than it began in
                hashes = request.block_hashes[:num_hashes]
                repeated += self._blocks.repeated(life.number, hashes, life.noted_end, end, number)
                life.noted_end = end // self._block_tokens * self._block_tokens
            published = hash_number(written[request_id]) if request_id in written else None
            visit = selected.get(request_id)
            life.add_row(first_token, num_tokens, visit is not None)
            if visit is None:
                rows.append((number, slot, life.number, "running", None, first_token, num_tokens, 0, None, published))
                continue
            kinds.append("resumed" if visit.resumes else "new")
            rows.append((
                number, slot, life.number, kinds[-1], places.get(request_id), first_token, num_tokens, first_token,
                hash_number(visit.restored), published,
            ))  # fmt: skip
            self._select(life, kinds[-1], step)
        if step.is_kept:
            self._writer.append("rows", rows)
        if repeated:
            self._writer.append("repeated_blocks", repeated)
        return kinds

    def _select(self, life: RequestLife, kind: str, step: FinishedStep) -> None:
        started_ns, number = step.notes.started_ns, step.round_number
        life.is_deferred = False
        if life.first_selected_ns is None:
            life.first_selected_ns, life.first_selected_round = started_ns, number
            if life.released_ns is None:
                life.released_ns = life.registered_ns  # nobody held it
        self._event(started_ns, life, "resumed" if kind == "resumed" else "selected", number)
        if life.blocked_since_round is not None:
            num_rounds = number - life.blocked_since_round
            life.blocked_since_round = None
            self._event(started_ns, life, "recovered", number, num_rounds=num_rounds)

    def _make_visits(self, step: FinishedStep) -> dict[str, int]:
        """Write what was looked at and not taken; returns the places of the selected requests in the scan."""
        visits, lives = step.notes.all_visits(), self.lives
        if not visits:
            return {}
        seen = [
            (lives[visit.request.request_id].number, None if visit.outcome == "selected" else visit_facts(visit))
            for visit in visits
        ]
        places, ended = self._visit_runs.add_round(step.round_number, seen)
        if self._has_visits:
            awaited = awaited_rows(step.round_number, visits, lives, self._publications)
            for table, rows in (("visits", ended), ("awaited_states", awaited)):
                if rows:
                    self._writer.append(table, rows)
        self._tell_of_waiting(step)
        pairs = zip(visits, places, strict=True)
        return {visit.request.request_id: place for visit, place in pairs if visit.outcome == "selected"}

    def _tell_of_waiting(self, step: FinishedStep) -> None:
        for visit in step.notes.visits:
            if visit.outcome == "blocked":
                self.lives[visit.request.request_id].num_blocked_visits += 1
                self._block(visit, step.notes.started_ns, step.round_number)
        for life, overtaker in newly_overtaken(step.notes.visits, self.lives):
            self._event(step.notes.started_ns, life, "overtaken", step.round_number, overtaker)

    def _block(self, visit: Visit, time_ns: int, round_number: int | None) -> None:
        life = self.lives[visit.request.request_id]
        if life.blocked_since_round is None:
            life.blocked_since_round = self.num_rounds + 1 if round_number is None else round_number
            mark = visit.state.mark if visit.state is not None else None
            producer = self.lives.get(mark.request_id) if mark is not None else None
            self._event(time_ns, life, "blocked", round_number, producer, visit.cause)
