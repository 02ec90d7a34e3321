"""Why a waiting request was not taken, in words."""

from typing import Any

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
