"""allocate_slots() answers one None for five causes: each is constructed, and the recorder names it."""

from typing import Any

import pytest

from radixflow.collector.instrumentation.stops.refused_allocation import refused_allocation_reason
from tests.collector.policies.same_state import recorded_step
from tests.collector.streams.observed_streams import scheduler_for
from tests.scheduler_harness.construction import make_request
from tests.scheduler_harness.driving import run_round

BLOCK = 64


def scheduler_with(num_blocks: int, *prompts: range, **arguments: Any) -> Any:
    """A scheduler with waiting prompts; the first one is run for a round where there are two or more."""
    arguments = {"max_num_seqs": 8, "max_num_batched_tokens": 4 * BLOCK} | arguments
    scheduler = scheduler_for("radix", block_size=BLOCK, num_blocks=num_blocks, **arguments)
    for number, prompt in enumerate(prompts):
        tokens = [5 + (number * 97 + position) % 400 for position in prompt]
        scheduler.add_request(make_request(scheduler, str(number), tokens, max_tokens=50))
        if number == 0 and len(prompts) > 1:
            run_round(scheduler)
    return scheduler


def last_refusal(scheduler: Any) -> tuple[str | None, str | None]:
    """Outcome and reason of the visit at which the next scan stops."""
    visit = recorded_step(scheduler).recorder._notes.visits[-1]
    return visit.outcome, visit.reason


def test_a_state_that_is_being_written() -> None:
    scheduler = scheduler_with(100, max_num_batched_tokens=8 * BLOCK)
    prompt = list(range(5, 5 + 3 * BLOCK))
    for name, own in (("producer", 7), ("consumer", 8)):
        scheduler.add_request(make_request(scheduler, name, [*prompt, own]))
    assert last_refusal(scheduler) == ("blocked", None)


def test_too_few_free_blocks() -> None:
    scheduler = scheduler_with(14, range(4 * BLOCK - 1), range(4 * BLOCK), scheduler_reserve_full_isl=False)
    assert last_refusal(scheduler) == ("other", "kv_blocks")


def test_a_prompt_that_does_not_fit_as_a_whole() -> None:
    shape = {"max_model_len": 4096}
    assert last_refusal(scheduler_with(24, range(BLOCK - 1), range(30 * BLOCK), **shape)) == (
        "other",
        "full_prompt_reservation",
    )
    unreserved = scheduler_with(24, range(BLOCK - 1), range(30 * BLOCK), scheduler_reserve_full_isl=False, **shape)
    assert last_refusal(unreserved)[0] == "selected"


def test_the_watermark() -> None:
    assert last_refusal(scheduler_with(40, range(BLOCK - 1), range(BLOCK - 1), watermark=0.9)) == ("other", "watermark")
    assert last_refusal(scheduler_with(40, range(BLOCK - 1), range(BLOCK - 1)))[0] == "selected"


@pytest.mark.parametrize(("reserved", "reason"), [(38, "remote_kv"), (0, None)])
def test_blocks_reserved_for_remote_kv(reserved: int, reason: str | None) -> None:
    """The scheduler reserves only with a connector; here the call is made as it would make it."""
    scheduler = scheduler_with(40, range(BLOCK - 1))
    (request,) = scheduler.waiting
    arguments = {"reserved_blocks": reserved, "new_computed_blocks": scheduler.kv_cache_manager.empty_kv_cache_blocks}
    refused = scheduler.shadow_kv_cache().allocate_slots(request, BLOCK - 1, **arguments) is None
    assert refused == (reason is not None)
    if refused:
        assert refused_allocation_reason(scheduler.shadow_kv_cache(), request, BLOCK - 1, arguments) == reason
