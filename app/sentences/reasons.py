"""Why a waiting request was not taken, in words."""

from typing import Any

import pyarrow as pa

from radixflow.app import units

REASONS = {
    "end_of_queue": "the queue was at its end",
    "blocked": "a request was blocked by its recurrent state",
    "token_budget": "the token budget was used up",
    "row_capacity": "every row was in use",
    "aligned_split_zero": "what was left of the token budget is less than one aligned segment",
    "kv_blocks": "too few KV cache blocks were free",
    "watermark": "the block pool must keep its reserve",
    "full_prompt_reservation": "no blocks were free for its whole prompt",
    "lora": "no more adapters fit into the round",
    "encoder": "the budget of the encoder was used up",
    "grammar": "its grammar was not compiled yet",
    "remote_kv": "its KV cache was still on the way from another machine",
    "stale_output": "output of an earlier round was still on its way",
    "paused": "the engine was paused",
    "preempted_step": "the round preempted a request and so took no new one",
    "prefill_throttle": "prefills were throttled",
    "spec_padding": "its padded speculative tokens do not fit",
    "no_chunked_prefill": "its whole prompt must fit, since prompts are not split",
    "not_schedulable": "it was in no state to be scheduled",
    "unsupported": "the probe does not follow requests of this kind",
    "unknown": "the reason is not known",
}
"""Reason of an OTHER outcome, or of the stop of a scan, to what it means."""


def reason_words(reason: str | None) -> str:
    """Say what a reason means; a reason that this release does not know is given as it is."""
    return REASONS.get(reason or "unknown") or str(reason).replace("_", " ")


_BLOCKED = {
    "being_written": "BLOCKED: its state is being written",
    "marked_again": "BLOCKED: its state, published before, is only marked again",
}
_WITNESSES = {"native": "the scan", "probe": "the probe behind its stop"}


def outcome_words(row: dict[str, Any]) -> str:
    """Say what a kind of visits found, where the visits are many and their producers different.

    Args:
        row: A row with the ``outcome``, ``reason`` and ``cause`` that the visits share.
    """
    if row["outcome"] == "ready":
        return "READY behind the stop of the scan"
    if row["outcome"] == "blocked":
        return _BLOCKED.get(row["cause"] or "", "BLOCKED: what its state was doing is not recorded")
    return refusal_words(row)


def outcomes_in_words(outcomes: pa.Table) -> pa.Table:
    """Put who looked and what was found in words, in place of the codes that say the same.

    Args:
        outcomes: Rows of ``queries.fullness.visit_outcomes``.
    """
    rows = outcomes.to_pylist()
    found = {
        "label": [row["label"] for row in rows],
        "looked_at_by": [_WITNESSES.get(row["witness"], row["witness"]) for row in rows],
        "what_was_found": [outcome_words(row) for row in rows],
    }
    words = pa.table({name: pa.array(values, pa.string()) for name, values in found.items()})
    for name in ("num_visits", "first_round", "last_round"):
        words = words.append_column(name, outcomes[name])
    return words


def refusal_words(look: dict[str, Any]) -> str:
    """Say why a visit did not take its request.

    Args:
        look: A row of ``round_scan`` or ``request_visits``.
    """
    if look["outcome"] == "blocked":
        return _blocked(look)
    if look["outcome"] == "held":
        return "held by admission"
    if look["outcome"] == "ready":
        return f"READY: {units.counted(look['num_tokens'], 'token')} would have been taken"
    return reason_words(look["reason"])


def _blocked(look: dict[str, Any]) -> str:
    producer = look["producer_request_id"] or "a request of which no name is recorded"
    if look["cause"] == "marked_again":
        published = look["published_round"]
        since = "" if published is None else f", published in round {units.number(published)}"
        return f"BLOCKED: its state{since}, was only marked again by {producer}"
    return f"BLOCKED: {producer} is writing its state"
