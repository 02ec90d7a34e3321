"""Do scheduling policies change answers? Every policy with and without precise marks against vLLM's own class.

Random streams of 40 requests on the real engine with the state-sensitive tiny hybrid, small block pools, shared
prefixes of all lengths, whole-block and sub-block hits. Prints for each arm how many requests differ from stock in the
first token or only later, and how many of these differences are explained: near-ties of bfloat16 whose states were
right, as the request computed alone shows. The control arm, which admits a consumer in the step that writes its state,
must stand out.

Run: python -m benchmarks.outputs [SEEDS [FINDINGS.json]]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from radixflow.collector.policies.catalog import ALIASES
from tests.collector.outputs.findings import CLEAR, NEAR_TIE, WRONG, Finding
from tests.collector.outputs.process import run_audit

NUM_SEEDS = 4
FIRST_SEED = 100
EVIDENCE = ("rounds", "blocked_visits", "held", "preemptions", "evictions", "resumed")


def row(arm: str, findings: list[Finding]) -> str:
    """One line of the table: an arm over all geometries."""
    differences = [difference for finding in findings for difference in finding.differences]
    first = sum(len(finding.first_tokens) for finding in findings)
    explained = len(differences) - sum(len(finding.unexplained) for finding in findings)
    ties = [max(difference.gap_in_other_ways, difference.gap_in_arms) for difference in differences]
    figures = (
        sum(finding.num_requests for finding in findings), sum(finding.num_tokens for finding in findings), first,
        len(differences) - first, explained, sum(finding.num_wrong_tokens for finding in findings),
        sum(finding.num_clear for finding in findings), sum(finding.num_clear_that_differ for finding in findings),
    )  # fmt: skip
    worst = (max(ties, default=0.0), max(finding.largest_gap_alone for finding in findings))
    seen = [sum(finding.evidence[name] for finding in findings) for name in EVIDENCE]
    return (
        f"{arm:32s}"
        + "".join(f"{n:9d}" for n in figures)
        + "".join(f"{w:9.2f}" for w in worst)
        + "".join(f"{n:9d}" for n in seen)
    )


def table(findings: Iterable[Finding]) -> list[str]:
    """The table, one line an arm."""
    names = (
        "requests",
        "tokens",
        "first",
        "later",
        "explained",
        "wrong",
        "clear",
        "differ",
        "tie gap",
        "gap",
        *EVIDENCE,
    )
    lines = [f"{'':32s}" + "".join(f"{name[:8]:>9s}" for name in names)]
    by_arm: dict[str, list[Finding]] = {}
    for finding in findings:
        by_arm.setdefault(finding.arm, []).append(finding)
    return lines + [row(arm, of_arm) for arm, of_arm in by_arm.items()]


def main(num_seeds: str = str(NUM_SEEDS), keep: str = "") -> None:
    """Print the tables; keep every difference as JSON in a file if one is named."""
    started = time.monotonic()
    precise = [name for name in ALIASES if name != "stock"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(keep or Path(folder) / "findings.json")
        findings = run_audit(file, FIRST_SEED, int(num_seeds), precise, quiet=False)
    print(f"{num_seeds} streams a geometry, {time.monotonic() - started:.0f} s")
    for geometry in dict.fromkeys(finding.geometry for finding in findings):
        print(f"\n{geometry}")
        print("\n".join(table(finding for finding in findings if finding.geometry == geometry)))
    print("\nboth\n" + "\n".join(table(findings)))
    print("first, later: requests that differ from stock in the first token, or only in later ones")
    print(
        f"explained: near-ties (at most {NEAR_TIE} logits) for the request alone, prefilled at once, in pieces or "
        "decoded"
    )
    print(f"clear: first tokens that lead by more than {CLEAR} logits alone; differ: of those, unlike stock")
    print("tie gap: widest gap at a difference, in the arms or alone; gap: widest of any token, alone and all at once")
    print(f"wrong: tokens more than {WRONG} logits below the best one when the request is computed alone")


if __name__ == "__main__":
    main(*sys.argv[1:])
