"""Which numbers of a run the tables of pages and reports show, and how each is written."""

from collections.abc import Callable
from typing import Any, NamedTuple

from radixflow.app import units


class Number(NamedTuple):
    """One number of a run.

    Attributes:
        title: What it is called.
        column: Column of ``run_summary``.
        write: How a value, and a difference of two, is written.
        difference: Column of ``paired_summary`` with second run minus first.
        interval: Its columns with the ends of the 95 % bootstrap interval; None where the views give none.
    """

    title: str
    column: str
    write: Callable[[Any], str]
    difference: str
    interval: tuple[str, str] | None = None


NUMBERS = (
    Number("Rounds", "num_rounds", units.number, "rounds_difference"),
    Number("Rows a round", "rows_per_round", units.number, "rows_per_round_difference"),
    Number("Tokens a round", "tokens_per_round", units.number, "tokens_per_round_difference"),
    Number("Row slots filled", "row_fullness_fraction", units.fraction, "row_fullness_difference_fraction"),
    Number("Avoidable rows", "rows_avoidable", units.number, "rows_avoidable_difference"),
    Number("Rounds with a bubble", "num_bubble_rounds", units.number, "bubble_rounds_difference"),
    Number(
        "Mean latency",
        "mean_latency_ms",
        units.duration,
        "mean_latency_difference_ms",
        ("mean_latency_difference_low_ms", "mean_latency_difference_high_ms"),
    ),
    Number("Median latency", "p50_latency_ms", units.duration, "p50_latency_difference_ms"),
    Number("95th percentile of latency", "p95_latency_ms", units.duration, "p95_latency_difference_ms"),
    Number(
        "Mean latency of a request group",
        "mean_group_latency_ms",
        units.duration,
        "mean_group_latency_difference_ms",
        ("mean_group_latency_difference_low_ms", "mean_group_latency_difference_high_ms"),
    ),
    Number("Mean duration of a round", "mean_round_ms", units.duration, "mean_round_difference_ms"),
    Number("First round to last", "duration_ms", units.duration, "duration_difference_ms"),
    Number(
        "Tokens scheduled",
        "num_scheduled_tokens",
        units.number,
        "scheduled_tokens_difference",
        ("scheduled_tokens_difference_low", "scheduled_tokens_difference_high"),
    ),
    Number(
        "Prompt tokens reused",
        "num_reused_tokens",
        units.number,
        "reused_tokens_difference",
        ("reused_tokens_difference_low", "reused_tokens_difference_high"),
    ),
    Number(
        "Share of the prompts reused",
        "reused_fraction",
        units.fraction,
        "reused_difference_fraction",
        ("reused_difference_low_fraction", "reused_difference_high_fraction"),
    ),
    Number("BLOCKED visits", "num_blocked_visits", units.number, "blocked_visits_difference"),
    Number("Requests blocked", "num_blocked_requests", units.number, "blocked_requests_difference"),
    Number("Requests recovered", "num_recovered_requests", units.number, "recovered_requests_difference"),
    Number("Requests finished", "num_requests_finished", units.number, "finished_requests_difference"),
)
"""The numbers of a run, in the order in which they are shown."""


def written_values(number: Number, summary: list[dict[str, Any]]) -> list[str]:
    """Write one number of each run, given rows of ``run_summary``."""
    return [number.write(row[number.column]) for row in summary]


def written_difference(number: Number, pair: dict[str, Any]) -> str:
    """Write what the second run of a pair changes, given a row of ``paired_summary``; with its interval, if any."""
    difference = _signed(number, pair[number.difference])
    if number.interval is None or any(pair[end] is None for end in number.interval):
        return difference
    low, high = (_signed(number, pair[end]) for end in number.interval)
    return f"{difference} ({low} to {high})"


def _signed(number: Number, value: Any) -> str:
    return units.signed(number.write(value))
