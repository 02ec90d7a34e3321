"""Policies by name: traversal x admission x fragmentation guard, and the aliases of the paper.

Nothing here imports vLLM, so that a command line can list and check names without it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from radixflow.schema.errors import RadixflowError

NATIVE = "native"
TRAVERSALS = (NATIVE, "prefix-stop", "state-ready")
ADMISSIONS = ("immediate", "flex", "timer", "timer-ordered")
DELAY = re.compile(r"(flex|timer|timer-ordered):(\d+(?:\.\d+)?)ms")


@dataclass(frozen=True)
class Policy:
    """One combination of scheduling rules.

    Attributes:
        traversal: ``native`` (vLLM's own class, not observed), ``prefix-stop`` (native selection, observed) or
            ``state-ready`` (skip only a BLOCKED consumer).
        admission: ``immediate``, ``flex``, ``timer`` or ``timer-ordered``.
        delay_ms: Longest time that admission holds a request, in milliseconds; 0 with ``immediate``.
        frag: Whether the fragmentation guard is on.
        precise: Mark a whole-block state only in the step that writes it, instead of vLLM's mark.
        align: Also skip a request whose aligned split is 0 (an experiment).
        keep: With ``state-ready``, take nobody behind a BLOCKED request who would evict a prefix that another waiting
            request shares (an experiment).
    """

    traversal: str
    admission: str = "immediate"
    delay_ms: float = 0.0
    frag: bool = False
    precise: bool = False
    align: bool = False
    keep: bool = False

    @property
    def name(self) -> str:
        """The general form of the policy's name, which :func:`parse_policy` reads back."""
        admission = [] if self.admission == "immediate" else [f"{self.admission}:{self.delay_ms:g}ms"]
        flags = [flag for flag in ("frag", "align", "keep", "precise") if getattr(self, flag)]
        return "+".join([self.traversal, *admission, *flags])


RADIX, FLOW = Policy("prefix-stop"), Policy("state-ready")
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
"""Alias to policy and one line of help."""


def parse_policy(name: str) -> Policy:
    """The policy of an alias (``radixflow``), of a general form (``state-ready+flex:5ms+frag``), or of an alias with
    more modifiers (``radix+precise``).

    Raises:
        RadixflowError: If the name is unknown; the sentence lists what there is.
    """
    parts = name.strip().split("+")
    for length in range(len(parts), 0, -1):
        alias = "+".join(parts[:length])
        if alias in ALIASES or alias in TRAVERSALS:
            base = ALIASES[alias][0] if alias in ALIASES else Policy(alias)
            return _with_modifiers(base, parts[length:], name)
    raise _unknown(name)


def _with_modifiers(policy: Policy, modifiers: list[str], name: str) -> Policy:
    for modifier in modifiers:
        delay = DELAY.fullmatch(modifier)
        if modifiers.count(modifier) > 1:
            raise _unknown(name)
        if policy.traversal == NATIVE:
            raise _unknown(name)
        if modifier == "frag":
            policy = replace(policy, frag=True)
        elif modifier == "precise":
            policy = replace(policy, precise=True)
        elif modifier == "align":
            policy = replace(policy, align=True)
        elif modifier == "keep" and policy.traversal == FLOW.traversal:
            policy = replace(policy, keep=True)
        elif modifier == "immediate":
            policy = replace(policy, admission="immediate", delay_ms=0.0)
        elif delay is not None:
            policy = replace(policy, admission=delay[1], delay_ms=float(delay[2]))
        else:
            raise _unknown(name)
    return policy


def _unknown(name: str) -> RadixflowError:
    return RadixflowError(
        f"Unknown policy {name!r}: use one of {', '.join(ALIASES)}, or a general form such as "
        "state-ready+flex:5ms+frag or prefix-stop+timer:10ms, each also with +precise."
    )
