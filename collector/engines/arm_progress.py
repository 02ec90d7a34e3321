"""Progress of a running arm, from figures that cost little to read."""

import json
from dataclasses import dataclass
from pathlib import Path

ENGINE_STATUS = Path("writers", "engine.json")


@dataclass(frozen=True, slots=True)
class ArmProgress:
    """The progress of an arm at one moment."""

    policy: str
    """Policy of the arm."""
    phase: str
    """starting, sending or ending."""
    num_requests: int
    """Requests that will be sent."""
    num_done: int = 0
    """Requests that have ended."""
    num_rounds: int | None = None
    """Rounds recorded; None while nothing is known of them."""
    seconds_left: float | None = None
    """Estimate of the time to the end; None while there is none."""


def num_rounds_so_far(run_path: Path) -> int | None:
    """Rounds that the engine process has written, or None if it says nothing (yet)."""
    try:
        written = json.loads((run_path / ENGINE_STATUS).read_text(encoding="utf-8"))["rows_written"]
        return int(written.get("rounds", 0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def estimate_seconds_left(elapsed: float, num_done: int, num_requests: int, seconds_of_arrivals: float) -> float | None:
    """Estimate the seconds to the end from the pace so far; at least as long as requests are still due to arrive.

    Args:
        elapsed: Seconds since the first request was due.
        num_done: Requests that have ended.
        num_requests: Requests of the stream.
        seconds_of_arrivals: Seconds from the first request to the last one.
    """
    if num_done == 0 or elapsed <= 0:
        return None
    by_pace = elapsed / num_done * (num_requests - num_done)
    return max(by_pace, seconds_of_arrivals - elapsed, 0.0)
