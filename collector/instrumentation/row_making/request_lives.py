"""What is known of each request while it lives in the scheduler, and its token ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class RequestLife:
    """One request from registration to its end.

    The token ledger counts prompt positions: a position is first covered either by the prefix cache (reused) or by a
    scheduled interval; scheduling a covered position again, after a preemption, is a repetition. So
    ``prompt tokens = reused + scheduled - repeated`` once the whole prompt is covered.

    A request that had been selected before the recording began (``is_continued``) has the counts of this recording
    alone; what it had reused is not among them.
    """

    number: int
    request_id: str
    num_prompt_tokens: int
    registered_ns: int
    released_ns: int | None = None
    first_selected_ns: int | None = None
    first_selected_round: int | None = None
    num_covered_tokens: int = 0
    num_reused_tokens: int = 0
    num_scheduled_tokens: int = 0
    num_scheduled_prompt_tokens: int = 0
    num_repeated_tokens: int = 0
    num_preemptions: int = 0
    num_blocked_visits: int = 0
    num_rows: int = 0
    blocked_since_round: int | None = None
    computed_end: int = 0
    noted_end: int = 0
    was_held: bool = False
    is_deferred: bool = False
    was_overtaken: bool = False
    is_continued: bool = False

    def go_on(self, first_selected_ns: int, num_computed_tokens: int) -> None:
        """Take over a request that was selected before this recording began, with this many tokens computed by then."""
        self.released_ns, self.first_selected_ns, self.is_continued = self.registered_ns, first_selected_ns, True
        self.num_covered_tokens = self.computed_end = self.noted_end = num_computed_tokens

    def add_row(self, first_token: int, num_tokens: int, from_waiting: bool) -> None:
        """Count one scheduled interval; ``from_waiting`` when a cache hit was adopted right before it."""
        self.num_scheduled_tokens += num_tokens
        self.num_rows += 1
        if first_token + num_tokens > self.computed_end:
            self.computed_end = first_token + num_tokens
        length = self.num_prompt_tokens
        if first_token >= length <= self.num_covered_tokens:
            return  # it decodes, as most rows do
        start, end = min(first_token, length), min(first_token + num_tokens, length)
        if from_waiting and start > self.num_covered_tokens:
            self.num_reused_tokens += start - self.num_covered_tokens
            self.num_covered_tokens = start
        self.num_scheduled_prompt_tokens += end - start
        self.num_repeated_tokens += max(0, min(end, self.num_covered_tokens) - start)
        self.num_covered_tokens = max(self.num_covered_tokens, end)

    def as_row(self, finished_ns: int | None, num_output_tokens: int, outcome: str) -> tuple[Any, ...]:
        """The row of table ``requests``."""
        was_selected = self.first_selected_ns is not None and not self.is_continued
        if self.is_continued and outcome == "finished":
            outcome = "continued"
        return (
            self.number, self.request_id, self.num_prompt_tokens, self.registered_ns, self.released_ns,
            self.first_selected_ns, self.first_selected_round, finished_ns,
            self.num_reused_tokens if was_selected else None, self.num_scheduled_tokens,
            self.num_scheduled_prompt_tokens, self.num_repeated_tokens, num_output_tokens, self.num_preemptions,
            self.num_blocked_visits, self.num_rows, outcome,
        )  # fmt: skip
