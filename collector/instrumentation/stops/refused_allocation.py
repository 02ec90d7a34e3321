"""Which of its demands made vLLM refuse an allocation."""

from __future__ import annotations

import copy
from typing import Any


def refused_allocation_reason(shadow: Any, request: Any, num_tokens: int, arguments: dict[str, Any]) -> str:
    """Tell apart why allocate_slots() refused a request that is not BLOCKED.

    vLLM answers one None; asking again on a shadow, with one demand relaxed at a time, names the one that refused.

    Args:
        shadow: A copy-on-write shadow of the KV cache as it was at the refusal; it must not be used again.
        request: The request.
        num_tokens: Tokens that were asked for.
        arguments: Keyword arguments of the call, with blocks that belong to the shadow.

    Returns:
        ``remote_kv``, ``watermark``, ``full_prompt_reservation``, or ``kv_blocks`` where nothing but blocks would help.
    """
    if arguments.get("reserved_blocks") and _grants(shadow, request, num_tokens, arguments | {"reserved_blocks": 0}):
        return "remote_kv"
    if arguments.get("has_scheduled_reqs") and _grants(
        shadow, request, num_tokens, arguments | {"has_scheduled_reqs": False}
    ):
        return "watermark"
    if arguments.get("full_sequence_must_fit") and _grants(
        shadow, request, num_tokens, arguments | {"full_sequence_must_fit": False}
    ):
        return "full_prompt_reservation"
    return "kv_blocks"


def _grants(shadow: Any, request: Any, num_tokens: int, arguments: dict[str, Any]) -> bool:
    """Whether the allocation would be granted; the shadow is spent by a grant and must not be used again."""
    return shadow.allocate_slots(copy.copy(request), num_tokens, **arguments) is not None
