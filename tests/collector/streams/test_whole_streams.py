"""Whole random streams under every policy: all is served, no token is lost or invented, nobody waits for ever."""

import functools
import gc
import os
import random
from collections import Counter

import pytest

from radixflow.collector.policies.traversal.align import AlignedSplitSkip
from radixflow.collector.vllm_adapters.scan import Refusal
from tests.collector.streams.observed_streams import POLICIES, Life, StreamReport, StreamRun, scheduler_for
from tests.collector.streams.random_streams import draw_shape, draw_stream

NUM_STREAMS = max(4, int(os.environ.get("RADIXFLOW_NUM_STREAMS", "100")) // 25)
NUM_REQUESTS = 40


@functools.cache
def run(policy: str, seed: int) -> StreamReport:
    """A random stream under a policy; equal seeds give equal streams. Every other one is scheduled asynchronously."""
    rng = random.Random(seed)
    shape = draw_shape(rng)
    offers = draw_stream(rng, shape, NUM_REQUESTS)
    scheduler = scheduler_for(policy, async_scheduling=seed % 2 == 1, **shape)
    report = StreamRun(scheduler, offers).finish()
    assert not scheduler.requests and not scheduler.running
    pool = scheduler.kv_cache_manager.block_pool
    assert pool.get_num_free_blocks() == pool.num_gpu_blocks - 1, "all blocks but the null block are free again"
    return report


def unaccounted(life: Life) -> int:
    """Tokens of a finished request that are computed or reused too often or too seldom; its last one is never fed."""
    return life.num_prompt_tokens + life.num_output_tokens - 1 - (life.reused + life.scheduled - life.repeated)


def with_long_ones(policies: list[str]) -> list[object]:
    """The policies, those with the modifier +precise left to `make test-long`: it changes no rule of theirs."""
    return [pytest.param(name, marks=pytest.mark.long) if "+precise" in name else name for name in policies]


@pytest.mark.parametrize("policy", with_long_ones(POLICIES))
def test_every_request_is_served_with_the_tokens_that_native_scheduling_gives_it(policy: str) -> None:
    for seed in range(NUM_STREAMS):
        native, report = (run(name, seed) for name in ("stock", policy))
        assert report.lives.keys() == native.lives.keys()
        for name, life in report.lives.items():
            assert life.outcome in ("finished", "aborted")
            if life.outcome == "finished":
                assert unaccounted(life) == 0, name
                if native.lives[name].outcome == "finished":
                    assert life.num_output_tokens == native.lives[name].num_output_tokens
        gc.collect()  # schedulers are cycles of some megabytes each


def test_streams_reach_what_policies_differ_in() -> None:
    reports = [run("radixflow", seed) for seed in range(NUM_STREAMS)]
    deferrals = sum((report.deferrals for report in reports), start=Counter[str]())
    assert deferrals["blocked"] > 0 and deferrals["admission"] > 0
    assert sum(report.total("num_overtakes") for report in reports) > 0
    assert sum(report.num_preemptions for report in reports) > 0
    assert sum(report.total("reused") for report in reports) > 0
    assert any(life.outcome == "aborted" for report in reports for life in report.lives.values())


def test_a_policy_that_loses_a_request_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: a rule that skips its first request for ever."""
    monkeypatch.setattr("tests.collector.streams.observed_streams.MAXIMUM_EMPTY_STEPS", 50)

    def refuse(self: AlignedSplitSkip, scan: object, request: object) -> Refusal | None:
        return Refusal("other", "never") if getattr(request, "request_id", "") == "request-0" else None

    monkeypatch.setattr(AlignedSplitSkip, "refuse", refuse)
    with pytest.raises(AssertionError, match="no progress"):
        for seed in range(NUM_STREAMS):
            run("prefix-stop+align", seed)
