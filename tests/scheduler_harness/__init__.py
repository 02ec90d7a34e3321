"""vLLM's real scheduler and KV cache manager without a model, for tests of scheduling decisions.

`build_scheduler` makes one, `make_request` a request for it, `run_round` takes a round and answers it with made-up
tokens, `clone` copies its whole state, and `SchedulerWorld` walks through random reachable states.
"""

from tests.scheduler_harness.cloning import clone
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import (
    drain,
    fabricate_output,
    output_digest,
    run_round,
    schedule_round,
    update_round,
)
from tests.scheduler_harness.state_digest import state_difference, state_digest
from tests.scheduler_harness.worlds import SchedulerWorld, WorldShape

__all__ = [
    "SchedulerWorld",
    "WorldShape",
    "build_scheduler",
    "clone",
    "drain",
    "fabricate_output",
    "make_request",
    "output_digest",
    "run_round",
    "schedule_round",
    "state_difference",
    "state_digest",
    "update_round",
]
