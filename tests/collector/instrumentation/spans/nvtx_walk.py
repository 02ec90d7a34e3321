"""Runs recorded schedulers to the end of a stream, in a process with an NVTX tool attached; one step of each raises.

Usage: nvtx_walk.py RUN_DIRECTORY sync|async
"""

import random
import sys
from collections import deque
from typing import Any

from vllm.v1.core.kv_cache_manager import KVCacheManager

from radixflow.collector.instrumentation.schedulers import RecordedAsyncScheduler, RecordedScheduler
from tests.scheduler_harness import build_scheduler, make_request
from tests.scheduler_harness.driving import schedule_round, update_round


def main(run_directory: str, mode: str) -> None:
    """Serve twenty requests on shared prefixes, with a failure in the middle of the second step."""
    is_async = mode == "async"
    scheduler: Any = build_scheduler(
        RecordedAsyncScheduler if is_async else RecordedScheduler,
        block_size=16, max_num_seqs=6, max_num_batched_tokens=96, num_blocks=400, async_scheduling=is_async,
        additional_config={"radixflow": {"run_directory": run_directory, "policy": "radixflow-immediate"}},
    )  # fmt: skip
    rng = random.Random(0)
    stems = [[rng.randrange(5, 500) for _ in range(64)] for _ in range(3)]
    for number in range(20):
        prompt = stems[number % 3] + [rng.randrange(5, 500) for _ in range(20)]
        scheduler.add_request(make_request(scheduler, f"r{number}", prompt, max_tokens=4))
    in_flight: deque[Any] = deque()
    while scheduler.has_unfinished_requests() or in_flight:
        taken = schedule_round(scheduler)
        scheduler.get_grammar_bitmask(taken[0])  # as the engine core does when its executor has the round
        in_flight.append(taken)
        while len(in_flight) > (1 if is_async and scheduler.has_unfinished_requests() else 0):
            update_round(scheduler, in_flight.popleft())
    _fail_in_the_middle_of_a_step(scheduler)
    scheduler.shutdown()


def _fail_in_the_middle_of_a_step(scheduler: Any) -> None:
    scheduler.add_request(make_request(scheduler, "last", [7] * 40, max_tokens=1))
    native = KVCacheManager.get_computed_blocks

    def fails(*_: Any) -> None:
        raise RuntimeError("planted")

    KVCacheManager.get_computed_blocks = fails  # type: ignore[method-assign,assignment]
    try:
        scheduler.schedule()
    except RuntimeError as error:
        print(error)
    finally:
        KVCacheManager.get_computed_blocks = native  # type: ignore[method-assign]


if __name__ == "__main__":
    main(*sys.argv[1:])
