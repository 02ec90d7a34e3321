"""Writes by hand a run whose engine stood still: before its first round, between two rounds, and after its last."""

from pathlib import Path
from typing import Any

from tests import builders


def add_stall(run: builders.RunBuilder, head: str | None, start_ns: int, end_ns: int, **changes: Any) -> None:
    """Add a stall of 10 steps at a head for which the pool is too small, unless ``changes`` say otherwise."""
    number = None if head is None else run.numbers[head]
    row = {
        "start_ns": start_ns, "end_ns": end_ns, "num_steps": 10, "round_before": None, "num_waiting": 2,
        "num_running": 0, "num_rounds_in_flight": 0, "num_free_blocks": 39, "head_request": number,
        "stop_request": number, "stop_reason": "full_prompt_reservation", "stop_cause": "larger_than_pool",
    }  # fmt: skip
    run.rows_of["stalls"].append(row | changes)


def stalled_builder(path: Path, **manifest_facts: Any) -> builders.RunBuilder:
    """Two rounds from 1000 to 1190 ns, and four stretches of steps without work around them.

    Parked sessions for 100 ns before, admission and an awaited output in between, and 5 steps of 4000 ns at a head
    larger than the pool afterwards.
    """
    run = builders.RunBuilder(path, "radix", **manifest_facts)
    for name in ("a0", "giant", "b0"):
        run.request(name)
    run.round(("a0", 16), num_empty_steps=10)
    run.round(("a0", 32), num_empty_steps=4)
    add_stall(run, "b0", 800, 900, stop_reason="row_capacity", stop_cause="parked_sessions", stop_request=None)
    add_stall(run, "b0", 1091, 1093, num_steps=3, round_before=1, stop_reason="end_of_queue", stop_cause="held")
    add_stall(run, "giant", 1094, 1096, num_steps=1, round_before=1, num_rounds_in_flight=1)
    add_stall(run, "giant", 2000, 6000, num_steps=5, round_before=2, num_waiting=7)
    run.rows_of["registrations"] = [
        {"request": number, "request_id": name, "num_prompt_tokens": 48, "registered_ns": 700}
        for name, number in run.numbers.items()
    ]
    return run.finish()


def stalled_run(root: Path) -> Path:
    """Write that run."""
    return stalled_builder(root / "tiny" / "figure-2" / "radix").write()
