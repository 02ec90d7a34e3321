"""What happened to one request, in sentences."""

from typing import Any

import pyarrow as pa

from radixflow.app import units
from radixflow.app.sentences.reasons import outcome_words, refusal_words


def no_request_sentence(label: str, name: str | None, near: list[str]) -> str:
    """Say that a run has no request of a name.

    Args:
        label: Name of the run.
        name: The name that was asked for; None if the run has no request at all.
        near: Names of the run that contain it.
    """
    if name is None:
        return f"{label} has no request."
    there = f"{units.counted(len(near), 'name')} like it:" if near else "No name is like it."
    return f"{label} has no request called {name}. {there}"


def request_sentence(life: dict[str, Any], reasons: pa.Table) -> str:
    """Say how long a request waited, why, and what it reused when it was selected.

    Args:
        life: The row of ``queries.request_lens.life``.
        reasons: Rows of ``queries.request_lens.reasons``.
    """
    return " ".join(part for part in (_waiting(life), _found(reasons), _selection(life), _end(life)) if part)


def _waiting(life: dict[str, Any]) -> str:
    name = life["request_id"]
    if life["request"] is None:
        seen = (
            "was never sent"
            if life["outcome"] == "rejected"
            else f"was sent; what the engine did is {units.NOT_MEASURED}"
        )
        return f"{name} of {life['label']} {seen}."
    if life["waiting_ms"] is None:
        return f"{name} of {life['label']} is never selected."
    latency = "" if life["latency_ms"] is None else f" of its {units.duration(life['latency_ms'])}"
    return f"{name} of {life['label']} waits {units.duration(life['waiting_ms'])}{latency}."


def _found(reasons: pa.Table) -> str:
    counts: dict[str, int] = {}
    for row in reasons.to_pylist():
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + row["num_visits"]
    words = {
        "blocked": ("finds", "find", "it BLOCKED"),
        "ready": ("leaves", "leave", "it behind the stop of the scan though it is READY"),
        "held": ("sees", "see", "it held by admission"),
        "other": ("refuses", "refuse", "it for another reason"),
    }
    parts = [
        f"{units.counted(counts[outcome], 'round')} {one if counts[outcome] == 1 else many} {what}"
        for outcome, (one, many, what) in words.items()
        if outcome in counts
    ]
    return f"{', '.join(parts)}." if parts else ""


def _selection(life: dict[str, Any]) -> str:
    if life["first_selected_round"] is None:
        return ""
    return (
        f"Round {units.number(life['first_selected_round'])} selects it and reuses "
        f"{units.number(life['num_reused_tokens'])} of its {units.counted(life['num_prompt_tokens'], 'prompt token')}."
    )


def _end(life: dict[str, Any]) -> str:
    preempted = f", preempted {units.counted(life['num_preemptions'], 'time')}" if life["num_preemptions"] else ""
    rounds = (
        "" if life["num_rows"] is None else f", after {units.counted(life['num_rows'], 'round')} of work{preempted}"
    )
    why = f": {life['outcome_reason']}" if life["outcome_reason"] else ""
    return f"Outcome: {life['outcome']}{rounds}{why}."


def fairness_sentence(waits: pa.Table, overtakers: pa.Table, limit: int) -> str:
    """Say who came first although it arrived later.

    Args:
        waits: The row of ``queries.request_lens.waits``; none if the engine never saw the request end.
        overtakers: Rows of ``queries.request_lens.overtakers``.
        limit: Most of them that are read.
    """
    known = [row["num_rounds_waited"] for row in waits.to_pylist() if row["num_rounds_waited"] is not None]
    if not known:
        return f"Whether later arrivals came first is {units.NOT_MEASURED}."
    least = "At least " if overtakers.num_rows >= limit else ""
    came_first = units.counted(overtakers.num_rows, "later arrival")
    rounds = units.counted(known[0], "round")
    return f"{rounds.capitalize()} began while it waited. {f'{least}{came_first}'.capitalize()} came first."


def explained(visits: pa.Table) -> pa.Table:
    """Put what each round found in words, in place of the codes that say the same.

    Args:
        visits: Rows of ``queries.request_lens.visits`` or ``reasons``.
    """
    words = [_short(row) for row in visits.to_pylist()]
    codes = {
        "outcome",
        "slot_class",
        "reason",
        "cause",
        "producer_request_id",
        "published_round",
        "num_tokens",
        "visit",
    }
    kept = visits.select([name for name in visits.column_names if name not in codes])
    return kept.add_column(0, "what_the_round_found", [pa.array(words, pa.string())])


def _short(row: dict[str, Any]) -> str:
    if "producer_request_id" in row:
        return refusal_words(row)
    return outcome_words(row)
