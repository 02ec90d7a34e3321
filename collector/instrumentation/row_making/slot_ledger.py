"""The slot ledger: says for each row slot of a round whether it was used, or else why it was not."""

from __future__ import annotations

from typing import NamedTuple

TOKEN_REASONS = frozenset({"token_budget", "aligned_split_zero", "no_chunked_prefill", "spec_padding"})
"""Stop reasons that mean that the token budget did not suffice."""


class SlotLedger(NamedTuple):
    """Rows of one round by class, in the order of the columns of table ``rounds``; they add up to the capacity."""

    used: int
    avoidable: int
    dependency_wait: int
    held: int
    token_limited: int
    other: int
    no_work: int


class Demand(NamedTuple):
    """Requests that could explain an unused row, by class.

    Attributes:
        idle_token_limited: Running requests that got no tokens for want of budget; they keep their row.
        idle_other: Running requests that got none for another reason.
        ready: Waiting requests that the probe calls READY.
        blocked: Waiting requests that are BLOCKED.
        held: Waiting requests that admission holds.
        token_limited: Waiting requests left behind a stop for want of tokens.
        other: Waiting requests left behind any other stop, or skipped for another reason.
    """

    idle_token_limited: int
    idle_other: int
    ready: int
    blocked: int
    held: int
    token_limited: int
    other: int


def close_slot_ledger(capacity: int, used: int, demand: Demand) -> SlotLedger:
    """Distribute the row slots of a round over the classes of the ledger, in a fixed order.

    The classes add up to ``capacity``. No class gets more slots than there are requests that justify it.

    Rows of idle running requests are taken before anything that waits: nobody else could have had them.
    """
    left = capacity - used - demand.idle_token_limited - demand.idle_other
    taken = []
    for wanted in (demand.ready, demand.blocked, demand.held, demand.token_limited, demand.other):
        taken.append(max(0, min(wanted, left)))
        left -= taken[-1]
    ready, blocked, held, token_limited, other = taken
    return SlotLedger(
        used, ready, blocked, held, token_limited + demand.idle_token_limited, other + demand.idle_other, max(0, left)
    )
