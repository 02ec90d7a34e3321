"""The note of a stall: steps in a row that scheduled nothing while work waited, and found the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class StallFacts(NamedTuple):
    """What steps of one stall have in common; columns of table ``stalls``, with requests by their names.

    Attributes:
        round_before: Round before them; None before the first.
        num_waiting: Waiting requests, without sessions that wait for their client's next input.
        num_running: Running requests.
        num_rounds_in_flight: Rounds whose output had not been processed.
        num_free_blocks: Free KV cache blocks.
        head_request: First request of the waiting queue.
        stop_request: Request at which the scan stopped.
        stop_reason: What ended the scan.
        stop_cause: More about that.
    """

    round_before: int | None
    num_waiting: int
    num_running: int
    num_rounds_in_flight: int
    num_free_blocks: int
    head_request: str | None
    stop_request: str | None
    stop_reason: str
    stop_cause: str | None


@dataclass(slots=True)
class Stall:
    """A stall that may go on: begin of its first step and end of its last one (monotonic ns), and their number."""

    facts: StallFacts
    start_ns: int
    end_ns: int
    num_steps: int = 1
