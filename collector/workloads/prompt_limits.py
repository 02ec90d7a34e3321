"""Separates the prompts that are too long for the engine; they are rejected with a sentence, never cut."""

from collections.abc import Sequence
from dataclasses import dataclass

from radixflow.collector.workloads.offered_request import OfferedRequest


@dataclass(frozen=True, slots=True)
class Rejection:
    """A branch that is never sent, and why."""

    request: OfferedRequest
    """The branch."""
    reason: str
    """One sentence that names the branch."""


def split_by_length(
    requests: Sequence[OfferedRequest], max_model_len: int
) -> tuple[list[OfferedRequest], list[Rejection]]:
    """Separate the branches that the engine can hold from those it cannot.

    Args:
        requests: Branches in order of sending.
        max_model_len: Most tokens of prompt and output together that the engine accepts.
    """
    accepted: list[OfferedRequest] = []
    rejected: list[Rejection] = []
    for request in requests:
        reason = _refusal(request, max_model_len)
        if reason is None:
            accepted.append(request)
        else:
            rejected.append(Rejection(request, reason))
    return accepted, rejected


def _refusal(request: OfferedRequest, max_model_len: int) -> str | None:
    num_prompt_tokens = len(request.prompt_token_ids)
    if num_prompt_tokens == 0:
        return f"Request {request.request_id} is rejected: its prompt is empty."
    num_tokens = num_prompt_tokens + request.max_output_tokens
    if num_tokens <= max_model_len:
        return None
    return (
        f"Request {request.request_id} is rejected: its prompt of {num_prompt_tokens} tokens and"
        f" {request.max_output_tokens} output tokens exceed the model length of {max_model_len} tokens."
    )
