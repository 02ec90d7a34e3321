"""Reads from the name of a policy which traversal it uses."""

STATE_READY = "state-ready"
PREFIX_STOP = "prefix-stop"
NATIVE = "native"


def traversal(policy: str) -> str:
    """Read the traversal from a policy's name, an alias (``radixflow+frag``) or a general form (``state-ready+frag``).

    Args:
        policy: Name of the policy. An unknown one counts as prefix-stop, which is what vLLM does by itself.
    """
    first = policy.split("+")[0]
    if first.startswith("radixflow") or first == STATE_READY:
        return STATE_READY
    return NATIVE if first in ("stock", NATIVE) else PREFIX_STOP


def is_state_ready(policy: str) -> bool:
    """Say whether a policy skips only blocked consumers, as the method does."""
    return traversal(policy) == STATE_READY
