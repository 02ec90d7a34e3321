"""The summary of the arms, read from the SQL views alone: nothing is computed here."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

Row = dict[str, Any]

_RUN_LINES = (
    ("rounds", "num_rounds", ""), ("rows a round", "rows_per_round", ""), ("tokens a round", "tokens_per_round", ""),
    ("mean latency", "mean_latency_ms", "ms"), ("p50 latency", "p50_latency_ms", "ms"),
    ("p95 latency", "p95_latency_ms", "ms"), ("requests finished", "num_requests_finished", ""),
    ("scheduled tokens", "num_scheduled_tokens", ""), ("reused tokens", "num_reused_tokens", ""),
    ("blocked visits", "num_blocked_visits", ""), ("avoidable rows", "rows_avoidable", ""),
    ("stalls", "num_stalls", ""), ("stalled steps", "num_stalled_steps", ""), ("stalled time", "stalled_ms", "ms"),
)  # fmt: skip
_PAIR_LINES = (
    ("paired requests", "num_pairs", ""), ("rounds", "rounds_difference", "+"),
    ("mean latency", "mean_latency_difference_ms", "+ms"), ("scheduled tokens", "scheduled_tokens_difference", "+"),
    ("reused tokens", "reused_tokens_difference", "+"), 
    ("first-token agreement", "first_token_agreement_fraction", "%"),
    ("first-token disagreements", "num_first_token_disagreements", ""),
)  # fmt: skip
UNKNOWN = "-"


def read_summary(run_paths: Sequence[Path]) -> tuple[list[Row], list[Row]]:
    """Rows of ``run_summary`` with those of ``stall_summary``, in the order of the paths; and of ``paired_summary``."""
    from radixflow.schema.reading.connection import open_runs
    from radixflow.schema.reading.summaries import use_summaries

    connection = open_runs(run_paths)
    try:
        use_summaries(connection, "run_summary, paired_summary", say_what_is_added_up)
        stalls = "(SELECT * EXCLUDE (label) FROM stall_summary) AS stalls"
        runs = _rows(connection, f"SELECT * FROM run_summary JOIN {stalls} USING (run) ORDER BY run")
        pairs = _rows(connection, "SELECT * FROM paired_summary ORDER BY run_a, run_b")
    finally:
        connection.close()
    return runs, pairs


def say_what_is_added_up(view: str) -> None:
    """Print to stderr that a view of a long run is being computed, which takes seconds the first time."""
    print(f"Adding up {view} of the runs.", file=sys.stderr)


def print_json(run_paths: Sequence[Path], runs: list[Row], pairs: list[Row], out: TextIO) -> None:
    """Print both views as one JSON object; undefined values are null."""
    content = {"run_paths": [str(path) for path in run_paths], "run_summary": runs, "paired_summary": pairs}
    print(json.dumps(content, indent=2, default=str, allow_nan=False), file=out)


def print_tables(runs: list[Row], pairs: list[Row], out: TextIO) -> None:
    """Print one column an arm, and one column for each arm paired with the first."""
    print_grid([("", *(run["label"] for run in runs)), *_lines(_RUN_LINES, runs)], out)
    against_first = [pair for pair in pairs if pair["run_a"] == 0 and pair["run_b"] > 0]
    if against_first:
        print(f"\nDifference to {against_first[0]['label_a']}, request by request", file=out)
        print_grid([("", *(pair["label_b"] for pair in against_first)), *_lines(_PAIR_LINES, against_first)], out)


def format_value(value: Any, unit: str) -> str:
    """Write a value with its unit and three significant digits.

    A ``+`` in ``unit`` shows the sign also of positive values; ``%`` writes a fraction as a percentage.
    """
    if value is None:
        return UNKNOWN
    if unit == "%":
        return f"{format_value(value * 100, '')} %"
    sign = "+" if unit.startswith("+") and value > 0 else ""
    word = unit.removeprefix("+")
    text = f"{value:,}" if isinstance(value, int) else _three_digits(float(value))
    return f"{sign}{text}{word and ' '}{word}"


def print_grid(lines: Sequence[Sequence[str]], out: TextIO) -> None:
    """Print lines of cells in aligned columns, the first to the left, the others to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        numbers = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *numbers]).rstrip(), file=out)


def _lines(declared: Sequence[tuple[str, str, str]], rows: list[Row]) -> list[tuple[str, ...]]:
    return [(title, *(format_value(row[column], unit) for row in rows)) for title, column, unit in declared]


def _three_digits(value: float) -> str:
    magnitude = abs(value)
    digits = 0 if magnitude >= 100 else 1 if magnitude >= 10 else 2
    return f"{value:,.{digits}f}" if magnitude >= 0.1 or magnitude == 0 else f"{value:.3g}"


def _rows(connection: Any, query: str) -> list[Row]:
    cursor = connection.execute(query)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
