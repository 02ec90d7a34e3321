"""Policies by name: traversal x admission x fragmentation guard, and the aliases of the paper.

Nothing here imports vLLM, so that a command line can list and check names without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from radixflow.schema.errors import RadixflowError


@dataclass(frozen=True)
class Policy:
    """One combination of scheduling rules.

    Attributes:
        traversal: ``native`` (vLLM's own class, not observed), ``prefix-stop`` (native selection, observed) or
            ``state-ready``.
        precise: Mark a whole-block state only in the step that writes it, instead of vLLM's mark.
    """

    traversal: str
    precise: bool = False

    @property
    def name(self) -> str:
        """The general form of the policy's name."""
        return self.traversal + ("+precise" if self.precise else "")


NATIVE = "native"
TRAVERSALS = (NATIVE, "prefix-stop", "state-ready")
ALIASES: dict[str, tuple[Policy, str]] = {
    "stock": (Policy(NATIVE), "vLLM's own scheduler class, untouched and unobserved"),
    "radix": (Policy("prefix-stop"), "native selection, observed"),
    "radixflow-immediate": (Policy("state-ready"), "skip only a BLOCKED consumer and scan on"),
}
"""Alias to policy and one line of help."""


def parse_policy(name: str) -> Policy:
    """The policy of an alias (``radix``), a general form (``state-ready``) or either with ``+precise``.

    Raises:
        RadixflowError: If the name is unknown; the sentence lists what there is.
    """
    base, *modifiers = name.strip().split("+")
    unknown = [modifier for modifier in modifiers if modifier != "precise"]
    if base in ALIASES:
        policy = ALIASES[base][0]
    elif base in TRAVERSALS:
        policy = Policy(base)
    else:
        unknown.append(base)
        policy = Policy(NATIVE)
    if unknown or (modifiers and policy.traversal == NATIVE):
        raise RadixflowError(f"unknown policy {name!r}: use {', '.join(ALIASES)}, or one of the last two with +precise")
    return replace(policy, precise=bool(modifiers))
