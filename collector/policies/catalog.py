"""Policies by name: traversal x admission x fragmentation guard, and the aliases of the paper.

Nothing here imports vLLM, so that a command line can list and check names without it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from radixflow.schema.errors import RadixflowError

NATIVE = "native"
PREFIX_STOP = "prefix-stop"
STATE_READY = "state-ready"
TRAVERSALS = (NATIVE, PREFIX_STOP, STATE_READY)
IMMEDIATE = "immediate"
NANOSECONDS_A_MILLISECOND = 1_000_000
DELAYED = ("flex", "timer", "timer-ordered")
"""Admission rules that hold a request for a time, the delay."""
DELAY = re.compile(rf"({'|'.join(DELAYED)}):(\d+(?:\.\d+)?)ms")
ADMISSION = re.compile(rf"({'|'.join((IMMEDIATE, *DELAYED))})\d*(-ordered)?(:.*)?")
"""A part of a name that chooses the admission rule: ``flex``, ``timer5-ordered``, ``flex:5ms``, ``immediate``."""


@dataclass(frozen=True)
class Policy:
    """One combination of scheduling rules.

    Every field that is a bool is also a modifier of that name: ``radix+precise`` sets :attr:`precise`. A policy's name
    holds its modifiers in the order of the fields.

    Attributes:
        traversal: ``native`` (vLLM's own class, not observed), ``prefix-stop`` (native selection, observed) or
            ``state-ready`` (skip only a BLOCKED consumer).
        admission: ``immediate``, ``flex``, ``timer`` or ``timer-ordered``.
        delay_ms: Longest time that admission holds a request, in milliseconds; 0 with ``immediate``.
        frag: Whether the fragmentation guard is on.
        align: Also skip a request whose aligned split is 0 (an experiment).
        keep: With ``state-ready``, take nobody behind a BLOCKED request who would evict a prefix that another waiting
            request shares (an experiment).
        precise: Mark a whole-block state only in the step that writes it, instead of vLLM's mark.

    Raises:
        ValueError: If the rules do not go together, as the fields above say.
    """

    traversal: str
    admission: str = IMMEDIATE
    delay_ms: float = 0.0
    frag: bool = False
    align: bool = False
    keep: bool = False
    precise: bool = False

    def __post_init__(self) -> None:
        if self.traversal not in TRAVERSALS or self.admission not in (IMMEDIATE, *DELAYED):
            raise ValueError(f"there is no traversal {self.traversal} with {self.admission} admission")
        if not (self.delay_ms >= 0 and math.isfinite(self.delay_ms * NANOSECONDS_A_MILLISECOND)):
            raise ValueError("the delay of an admission rule is a number of milliseconds, 0 or more, that ends")
        if self.admission == IMMEDIATE and self.delay_ms:
            raise ValueError("immediate admission has no delay")
        if self.keep and self.traversal != STATE_READY:
            raise ValueError("only state-ready traversal can keep awaited states")
        if self.traversal == NATIVE and (self.admission != IMMEDIATE or any(getattr(self, flag) for flag in FLAGS)):
            raise ValueError("vLLM's own scheduler class takes no rules")

    @property
    def name(self) -> str:
        """The general form of the policy's name, which :func:`parse_policy` reads back."""
        # Milliseconds are written out: the exponent of 1e+06 would not be read back.
        delay = f"{self.admission}:{Decimal(repr(self.delay_ms)).normalize():f}ms"
        admission = [] if self.admission == IMMEDIATE else [delay]
        return "+".join([self.traversal, *admission, *(flag for flag in FLAGS if getattr(self, flag))])


FLAGS = tuple(field.name for field in fields(Policy) if isinstance(field.default, bool))
"""Names of the modifiers that are on or off."""

RADIX, FLOW = Policy(PREFIX_STOP), Policy(STATE_READY)
RADIXFLOW = replace(FLOW, admission="flex", delay_ms=5.0)

ALIASES: dict[str, tuple[Policy, str]] = {
    "stock": (Policy(NATIVE), "vLLM's own scheduler class, untouched and unobserved"),
    "radix": (RADIX, "native selection, observed"),
    "radix+flex": (
        replace(RADIX, admission="flex", delay_ms=5.0),
        "native selection behind flexible admission of 5 ms",
    ),
    "radix+timer5": (replace(RADIX, admission="timer", delay_ms=5.0), "native selection behind a timer of 5 ms"),
    "radix+timer10": (replace(RADIX, admission="timer", delay_ms=10.0), "native selection behind a timer of 10 ms"),
    "radix+timer5-ordered": (
        replace(RADIX, admission="timer-ordered", delay_ms=5.0),
        "timer of 5 ms, eligibility fixed before the scan",
    ),
    "radix+timer10-ordered": (
        replace(RADIX, admission="timer-ordered", delay_ms=10.0),
        "timer of 10 ms, eligibility fixed before the scan",
    ),
    "radixflow": (RADIXFLOW, "skip only a BLOCKED consumer and scan on, flexible admission of 5 ms"),
    "radixflow-immediate": (FLOW, "the traversal of radixflow alone"),
    "radixflow+frag": (replace(RADIXFLOW, frag=True), "radixflow that defers a branch rather than cut its segment"),
    "radixflow+align": (replace(RADIXFLOW, align=True), "experiment: also skip an aligned split of 0 tokens"),
    "radixflow+keep": (
        replace(RADIXFLOW, keep=True),
        "experiment: scan on, but never to evict what waiters still share",
    ),
}
"""Each alias with its policy and one line of help."""


def parse_policy(name: str) -> Policy:
    """Read a policy from its name.

    Args:
        name: An alias (``radixflow``), a general form (``state-ready+flex:5ms+frag``), or either with more modifiers
            (``radix+precise``). An admission rule in the modifiers takes the place of the alias's own
            (``radixflow+flex:10ms``), but a name that spells out two of them is refused.

    Raises:
        RadixflowError: If the name is unknown, with a sentence that lists what there is, or if it spells out more than
            one admission rule. The exit code is that of a wrong command line.
    """
    parts = name.strip().split("+")
    for length in range(len(parts), 0, -1):
        alias = "+".join(parts[:length])
        if alias in ALIASES or alias in TRAVERSALS:
            base = ALIASES[alias][0] if alias in ALIASES else Policy(alias)
            return _with_modifiers(base, parts[length:], name)
    raise _unknown(name)


def _with_modifiers(policy: Policy, modifiers: list[str], name: str) -> Policy:
    if len(set(modifiers)) < len(modifiers) or (policy.traversal == NATIVE and modifiers):
        raise _unknown(name)
    try:
        for modifier in modifiers:
            policy = replace(policy, **_changes(modifier, name))
    except ValueError as error:
        raise _unknown(name) from error
    admissions = [part for part in name.strip().split("+") if ADMISSION.fullmatch(part)]
    if len(admissions) > 1:
        raise RadixflowError(f"Policy {name!r} names more than one admission rule ({', '.join(admissions)}): keep one.")
    return policy


def _changes(modifier: str, name: str) -> dict[str, Any]:
    """The fields of a policy that a modifier sets, with their values."""
    if modifier in FLAGS:
        return {modifier: True}
    if modifier == IMMEDIATE:
        return {"admission": IMMEDIATE, "delay_ms": 0.0}
    if (delay := DELAY.fullmatch(modifier)) is not None:
        return {"admission": delay[1], "delay_ms": float(delay[2])}
    raise _unknown(name)


def _unknown(name: str) -> RadixflowError:
    return RadixflowError(
        f"Unknown policy {name!r}: use one of {', '.join(ALIASES)}, or a general form such as "
        "state-ready+flex:5ms+frag or prefix-stop+timer:10ms, each also with +precise."
    )
