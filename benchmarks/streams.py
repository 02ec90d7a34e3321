"""What each policy does to whole streams: rounds, deferrals, overtakes, waits, and what becomes of a blocked request.

vLLM's real scheduler without a model, with blocks of 528 tokens (Qwen3.5-4B), 16 rows and a budget of 4,096 tokens.
The clock moves by a stated model of a round: 4 ms and 6 us a scheduled token; an empty step polls for 0.1 ms.
Four streams: a burst of 120 questions of four branches; the same questions as groups that arrive over time, the
branches of a group within 3 ms; consumers of one long document among a steady stream of unrelated prompts; and the same
with unrelated requests that decode 64 tokens each, so that whoever overtakes keeps its row.

Run: python -m benchmarks.streams [policy ...]
"""

from __future__ import annotations

import random
import sys

import vllm

from tests.collector.streams.observed_streams import (
    MILLISECOND,
    POLICIES,
    Offer,
    RoundModel,
    StreamReport,
    StreamRun,
    scheduler_for,
)

SHAPE = {"block_size": 528, "max_num_seqs": 16, "max_num_batched_tokens": 4096, "num_blocks": 20_000}
COLUMNS = (
    "rounds", "rows a round", "ms", "deferrals", "blocked", "next: selected", "blocked", "not reached", "overtakes",
    "most of one", "in rounds", "worst wait", "ms", "mean ms",
)  # fmt: skip

LEGEND = """
Deferrals are visits after which a request stayed queued; blocked ones wait for a state. Next: what became of a blocked
request in the round after. Overtakes: first selections of later arrivals while an earlier request waits."""


def _tokens(rng: random.Random, count: int) -> tuple[int, ...]:
    return tuple(rng.randrange(5, 500) for _ in range(count))


def questions(seed: int, mean_gap_ms: float) -> list[Offer]:
    """120 questions of four branches: stems of about 5,500 or 380 tokens, and 12 tokens of each branch."""
    rng, now_ns, offers = random.Random(seed), 0, []
    for group in range(120):
        length = rng.gauss(5500, 1200) if rng.random() < 0.5 else rng.gauss(380, 120)
        stem = _tokens(rng, max(60, int(length)) + 30)
        for branch in range(4):
            late_ns = int(rng.uniform(0, 3) * MILLISECOND) if mean_gap_ms else 0
            offers.append(Offer(f"{group}-{branch}", stem + _tokens(rng, 12), now_ns + late_ns))
        now_ns += int(rng.expovariate(1) * mean_gap_ms * MILLISECOND)
    return offers


def one_document(seed: int, num_decoded: int) -> list[Offer]:
    """A consumer of one document every 10 ms (120) and an unrelated prompt of 60 to 900 tokens every 5 ms (400)."""
    rng = random.Random(seed)
    document = _tokens(rng, 12_000)
    consumers = [
        Offer(f"consumer-{number}", document + _tokens(rng, 12), number * 10 * MILLISECOND) for number in range(120)
    ]
    others = [
        Offer(f"other-{number}", _tokens(rng, rng.randrange(60, 900)), number * 5 * MILLISECOND, num_decoded)
        for number in range(400)
    ]
    return consumers + others


STREAMS = {
    "burst of 120 questions of four": lambda: questions(0, mean_gap_ms=0),
    "120 questions of four, a group every 30 ms": lambda: questions(0, mean_gap_ms=30),
    "one document among unrelated prompts": lambda: one_document(0, num_decoded=1),
    "the same, unrelated prompts decode 64 tokens": lambda: one_document(0, num_decoded=64),
}


def figures(report: StreamReport) -> tuple[str, ...]:
    """The cells of one policy, in the order of the columns."""
    fates = report.after_blocked
    known = sum(fates.values())
    shares = [f"{fates[fate] / known:.0%}" if known else "-" for fate in ("selected", "blocked", "not_reached")]
    waits = [life.wait_ns or 0 for life in report.lives.values()]
    return (
        f"{report.num_rounds}",
        f"{report.num_rows / report.num_rounds:.2f}",
        f"{report.duration_ns / MILLISECOND:.0f}",
        f"{sum(report.deferrals.values())}",
        f"{report.deferrals['blocked']}",
        *shares,
        f"{report.total('num_overtakes')}",
        f"{report.worst('num_overtakes')}",
        f"{report.worst('num_overtaken_rounds')}",
        f"{report.worst('wait_rounds')}",
        f"{report.worst('wait_ns') / MILLISECOND:.0f}",
        f"{sum(waits) / len(waits) / MILLISECOND:.0f}",
    )


def main(policies: list[str]) -> None:
    """Print one table a stream."""
    model = RoundModel()
    print(f"vLLM {vllm.__version__}; a round lasts {model.fixed_ns / MILLISECOND:g} ms and {model.token_ns} ns a token")
    for title, stream in STREAMS.items():
        print(f"\n{title}\n{'':32s}" + "".join(f"{column:>15s}" for column in COLUMNS))
        for policy in policies:
            report = StreamRun(scheduler_for(policy, **SHAPE), stream(), model).finish()
            print(f"{policy:32s}" + "".join(f"{cell:>15s}" for cell in figures(report)), flush=True)
    print(LEGEND)


if __name__ == "__main__":
    main(sys.argv[1:] or POLICIES)
