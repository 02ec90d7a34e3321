"""Cost of a visit to a waiting request, and of a schedule() that makes thousands of them.

2,000 consumers of one document of 6,000 tokens wait while its state is being written, with blocks of 528 tokens (the
block of Qwen3.5-4B). Three ways to meet them are timed in turn in one process: vLLM's own lookup at every visit; our
check with one lookup a visit; and the check that recognises a state already met in the round. Prints medians
and spread.

Run: python -m benchmarks.visits
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.vllm_adapters.refused_states import RefusedStates
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import run_round

NUM_CONSUMERS = 2000
DOCUMENT_TOKENS = 6000
BLOCK_SIZE = 528
REPEATS = 7


class ForgetsRefusals(RefusedStates):
    """Plain re-check: every visit looks the request up."""

    def find(self, request: Any) -> None:
        return None


def waiting_scheduler(plain: bool) -> Any:
    """A scheduler whose next round writes the state that all its waiting requests need."""
    rng = random.Random(0)
    scheduler: Any = build_scheduler(
        RadixFlowScheduler,
        block_size=BLOCK_SIZE,
        max_num_seqs=16,
        max_num_batched_tokens=4096,
        num_blocks=2000,
        additional_config={"radixflow": {"policy": "radixflow-immediate"}},
    )
    if plain:
        scheduler._refused_states = ForgetsRefusals(scheduler.kv_cache_manager)
    document = [rng.randrange(5, 500) for _ in range(DOCUMENT_TOKENS)]
    for number in range(NUM_CONSUMERS + 1):
        question = [rng.randrange(5, 500) for _ in range(12)]
        scheduler.add_request(make_request(scheduler, str(number), document + question))
    run_round(scheduler)  # the first chunk of the document; the next round ends on its last whole block
    return scheduler


def timed(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def one_repeat() -> dict[str, float]:
    """Microseconds a native lookup, and for both checks microseconds a visit and milliseconds a schedule()."""
    figures: dict[str, float] = {}
    for name, plain in (("plain re-check", True), ("remembered state", False)):
        scheduler = waiting_scheduler(plain)
        if plain:
            waiting = list(scheduler.waiting)[:500]
            lookups = timed(lambda: [scheduler._get_local_prefix_cache_hit(request) for request in waiting])  # noqa: B023
            figures["native lookup (us)"] = lookups / len(waiting) * 1e6
        whole = timed(scheduler.schedule)
        figures[f"{name}, schedule() (ms)"] = whole * 1e3
        visits = list(scheduler.waiting)[:500]
        gate = timed(lambda: [scheduler._handle_blocked_waiting_request(request) for request in visits])  # noqa: B023
        figures[f"{name}, visit (us)"] = gate / len(visits) * 1e6
    return figures


def main() -> None:
    """Print the table."""
    repeats = [one_repeat() for _ in range(REPEATS)]
    print(f"{NUM_CONSUMERS} consumers of one {DOCUMENT_TOKENS}-token document, block {BLOCK_SIZE}, {REPEATS} repeats")
    print(f"{'':36s}{'median':>10s}{'min':>10s}{'max':>10s}")
    for name in repeats[0]:
        values = [repeat[name] for repeat in repeats]
        print(f"{name:36s}{statistics.median(values):10.2f}{min(values):10.2f}{max(values):10.2f}")


if __name__ == "__main__":
    main()
