"""What one round did, in sentences."""

from typing import Any

import pyarrow as pa

from radixflow.app import units
from radixflow.app.sentences.reasons import reason_words, refusal_words


def no_round_sentence(number: int, ranges: dict[str, Any] | None) -> str:
    """Say that there is no such round, and which ones there are.

    Args:
        number: The round that was asked for.
        ranges: The row of ``queries.round_lens.ranges`` of the run; None when it has no round.
    """
    if ranges is None:
        return "This run has no round."
    first, last = units.number(ranges["first_round"]), units.number(ranges["last_round"])
    return f"{ranges['label']} has no round {units.number(number)}. Its rounds go from {first} to {last}."


def round_sentence(row: dict[str, Any]) -> str:
    """Say how full a round was, and what it could have held more.

    Args:
        row: The row of ``queries.round_lens.one_round``.
    """
    return (
        f"Round {units.number(row['round'])} of {row['label']} lasts {units.duration(row['duration_ms'])} and fills "
        f"{units.number(row['rows_used'])} of {units.counted(row['row_capacity'], 'row')} with "
        f"{units.number(row['tokens_scheduled'])} of {units.counted(row['token_budget'], 'token')}. {_bubble(row)}"
    )


def _bubble(row: dict[str, Any]) -> str:
    if row["probe"] == "off":
        return f"Whether its empty rows were avoidable is {units.NOT_MEASURED}: the probe was off."
    if not row["rows_avoidable"]:
        return "No row stays empty while work is READY."
    verb = "stays" if row["rows_avoidable"] == 1 else "stay"
    return f"{units.counted(row['rows_avoidable'], 'row')} {verb} empty although work is READY."


def scan_sentence(row: dict[str, Any], scan: pa.Table) -> str:
    """Say what the scan of a round looked at, and where and why it ended.

    Args:
        row: The row of ``queries.round_lens.one_round``.
        scan: Rows of ``queries.round_lens.scan``.
    """
    looks = units.counted(row["num_visits"], "waiting request")
    taken = row["num_rows_new"] + row["num_rows_resumed"]
    start = f"The scan looks at {looks} and takes {'none' if not taken else units.number(taken)}"
    stop = _stop(row, scan)
    if stop is None:
        return f"{start}; it ends because {reason_words(row['stop_reason'])}."
    return f"{start}; it stops at {row['stop_request_id']}: {refusal_words(stop)}."


def counterfactual_sentence(row: dict[str, Any], scan: pa.Table) -> str:
    """Say what the round would have held had its scan gone on behind a blocked request.

    Args:
        row: The row of ``queries.round_lens.one_round``.
        scan: Rows of ``queries.round_lens.scan``.
    """
    if row["probe"] == "off":
        return f"What lay behind the stop is {units.NOT_MEASURED}: the probe was off."
    if not row["num_probed"]:
        return "The probe had nothing to look at behind the end of the scan."
    ready = sum(look["outcome"] == "ready" for look in scan.to_pylist())
    looks = units.counted(row["num_probed"], "request")
    if not ready:
        return f"Behind the stop the probe looks at {looks} and finds none READY."
    tokens, verb = units.counted(row["tokens_avoidable"], "token"), "is" if ready == 1 else "are"
    return (
        f"Had the scan gone on: of {looks} behind the stop {units.number(ready)} {verb} READY, "
        f"worth {units.counted(row['rows_avoidable'], 'row')} and {tokens} more. The probe ends because "
        f"{reason_words(row['probe_end_reason'])}."
    )


def queue_sentence(row: dict[str, Any]) -> str:
    """Say how long the queues were, and what the recording itself cost.

    Args:
        row: The row of ``queries.round_lens.one_round``.
    """
    preempted = units.counted(row["num_preempted"], "request")
    probe = "" if row["probe_ms"] is None else f" and the probe {units.duration(row['probe_ms'])}"
    return (
        f"When the round began, {units.counted(row['num_running_before'], 'request')} ran and "
        f"{units.number(row['num_waiting_before'])} waited; {units.number(row['num_waiting_after'])} wait after it, "
        f"{units.number(row['num_held'])} of them held. It preempted {preempted} and left "
        f"{units.counted(row['num_free_blocks'], 'block')} free. Native scheduling took "
        f"{units.duration(row['schedule_ms'])}; the recorder took {units.duration(row['recorder_ms'])}{probe}, "
        f"which is part of no duration and, in the figure, a gap behind schedule."
    )


def explained(scan: pa.Table) -> pa.Table:
    """Put what happened in words behind the name of each request, in place of the codes that say the same.

    Args:
        scan: Rows of ``queries.round_lens.scan``.
    """
    looks = scan.to_pylist()
    words = ["selected" if look["outcome"] == "selected" else refusal_words(look) for look in looks]
    short = scan.drop_columns(["slot_class", "reason", "cause", "published_round", "step"])
    return short.add_column(3, "what_happened", [pa.array(words, pa.string())])


def _stop(row: dict[str, Any], scan: pa.Table) -> dict[str, Any] | None:
    if row["stop_request_id"] is None:
        return None
    refused = (look for look in scan.to_pylist() if look["witness"] == "native" and look["outcome"] != "selected")
    return next((look for look in refused if look["request_id"] == row["stop_request_id"]), None)
