"""What vLLM does beside prefix caching stays as it is under every policy: grammar, adapters, pause, priority, drafts.

Not built here, since they need a model, a second engine or an encoder: remote KV (connectors), multimodal inputs, and
drafts by a draft model (the drafts below are made up, as an n-gram proposer would hand them in).
"""

import random
from concurrent.futures import Future
from typing import Any

import pytest
from vllm.lora.request import LoRARequest
from vllm.sampling_params import StructuredOutputsParams
from vllm.v1.core.sched.interface import PauseState
from vllm.v1.outputs import DraftTokenIds, ModelRunnerOutput
from vllm.v1.request import RequestStatus
from vllm.v1.structured_output.backend_types import StructuredOutputGrammar
from vllm.v1.structured_output.request import StructuredOutputRequest

from tests.collector.streams.observed_streams import (
    MILLISECOND,
    POLICIES,
    BlockedVisits,
    Offer,
    SimulatedClock,
    StreamRun,
    scheduler_for,
)
from tests.collector.streams.test_whole_streams import unaccounted
from tests.scheduler_harness.construction import make_request
from tests.scheduler_harness.driving import output_digest, run_round

SHAPE: dict[str, Any] = {"block_size": 64, "max_num_seqs": 6, "max_num_batched_tokens": 512, "num_blocks": 300}
DELAY_ENDED_NS = 50 * MILLISECOND


def prompt(seed: int, num_tokens: int = 60) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(5, 500) for _ in range(num_tokens)]


class Driven:
    """A scheduler under a policy, its clock, and who was left queued for what."""

    def __init__(self, policy: str, **shape: Any) -> None:
        self.scheduler: Any = scheduler_for(policy, **(SHAPE | shape))
        self.scheduler.clock = self.clock = SimulatedClock()
        self.listener = BlockedVisits(self.scheduler) if policy != "stock" else None
        self.scheduler.listener = self.listener

    def add(self, name: str, tokens: list[int], **arguments: Any) -> Any:
        request = make_request(self.scheduler, name, tokens, **arguments)
        self.scheduler.add_request(request)
        return request

    def round(self) -> list[str]:
        """Names of the rows of the next round, a long time after the last."""
        self.clock.now_ns += DELAY_ENDED_NS
        return list(run_round(self.scheduler).num_scheduled_tokens)

    def reason(self, name: str) -> str | None:
        return self.listener.deferred.get(name) if self.listener is not None else None


class CompiledGrammar(StructuredOutputGrammar):
    """Accepts every token."""

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        return tokens

    def rollback(self, num_tokens: int) -> None:
        """Nothing is remembered."""

    def fill_bitmask(self, bitmask: Any, index: int) -> None:
        """Nothing is forbidden."""

    def is_terminated(self) -> bool:
        return False

    def reset(self) -> None:
        """Nothing is remembered."""


@pytest.mark.parametrize("policy", POLICIES)
def test_a_request_waits_for_its_grammar_and_nobody_behind_it_does(policy: str) -> None:
    driven = Driven(policy)
    request = make_request(driven.scheduler, "grammar", prompt(0))
    request.structured_output_request = StructuredOutputRequest(params=StructuredOutputsParams(regex="a+"))
    request.structured_output_request.grammar = grammar = Future[Any]()
    request.status = RequestStatus.WAITING_FOR_STRUCTURED_OUTPUT_GRAMMAR
    driven.scheduler.add_request(request)
    driven.add("behind", prompt(1))
    assert driven.round() == ["behind"]
    assert driven.reason("grammar") == (None if policy == "stock" else "grammar")
    grammar.set_result(CompiledGrammar())
    assert driven.round() == ["grammar"]
    assert not driven.scheduler.requests


@pytest.mark.parametrize("policy", POLICIES)
def test_a_round_holds_no_more_adapters_than_allowed(policy: str) -> None:
    driven = Driven(policy, enable_lora=True, max_loras=1, max_lora_rank=8)
    for number, adapter in enumerate((1, 2, 1)):
        lora = LoRARequest(f"adapter-{adapter}", adapter, "unused")
        driven.add(str(number), prompt(number), lora_request=lora)
    assert driven.round() == ["0", "2"]
    assert driven.round() == ["1"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_pause_holds_new_requests_or_all(policy: str) -> None:
    driven = Driven(policy)
    driven.add("runs", prompt(0), max_tokens=5)
    assert driven.round() == ["runs"]
    driven.add("new", prompt(1))
    driven.scheduler.set_pause_state(PauseState.PAUSED_NEW)
    assert driven.round() == ["runs"]
    driven.scheduler.set_pause_state(PauseState.PAUSED_ALL)
    assert driven.round() == []
    driven.scheduler.set_pause_state(PauseState.UNPAUSED)
    assert driven.round() == ["runs", "new"]


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if "radixflow" in policy])
def test_a_blocked_request_can_be_aborted(policy: str) -> None:
    driven = Driven(policy, max_num_batched_tokens=128)
    shared = prompt(0, 400)
    driven.add("producer", shared)
    assert driven.round() == ["producer"]
    driven.add("consumer", [*shared, 7])
    assert driven.round() == ["producer"]
    driven.scheduler.finish_requests("consumer", RequestStatus.FINISHED_ABORTED)
    while driven.scheduler.requests:
        driven.round()
    pool = driven.scheduler.kv_cache_manager.block_pool
    assert pool.get_num_free_blocks() == pool.num_gpu_blocks - 1


@pytest.mark.parametrize("policy", POLICIES)
def test_the_urgent_go_first_and_nothing_is_lost(policy: str) -> None:
    rng = random.Random(3)
    stem = prompt(9, 300)
    offers = [
        Offer(str(n), (*stem[: rng.randrange(300)], *prompt(n, 40)), priority=rng.randrange(3), max_tokens=12)
        for n in range(30)
    ]
    urgent = {offer.name for offer in offers if offer.priority == 0}
    run = StreamRun(scheduler_for(policy, **(SHAPE | {"num_blocks": 40, "policy": "priority"})), offers)
    if "+" not in policy and policy != "radixflow":  # admission and guards may hold the most urgent one for a moment
        first = next(name for name in run.step().num_scheduled_tokens)
        assert first in urgent
    report = run.finish()
    assert all(life.outcome == "finished" and unaccounted(life) == 0 for life in report.lives.values())
    waits = {life: report.lives[life].wait_rounds or 0 for life in report.lives}
    others = [waits[name] for name in waits if name not in urgent]
    assert sum(waits[name] for name in urgent) / len(urgent) < sum(others) / len(others)


# -- speculative decoding ----------------------------------------------------------------------------------------------

NUM_DRAFTS = 3
SPECULATION: dict[str, Any] = {
    "speculative_config": {"method": "ngram", "num_speculative_tokens": NUM_DRAFTS, "prompt_lookup_max": 3}
}


def answer_with_drafts(scheduler: Any, output: Any) -> None:
    """Accept some of the drafts of a round, by position, and draft anew for whoever generates."""
    names, tokens = list(output.num_scheduled_tokens), []
    for name in names:
        request = scheduler.requests[name]
        drafted = len(output.scheduled_spec_decode_tokens.get(name, ()))
        num_accepted = 0 if request.is_prefill_chunk else 1 + request.num_computed_tokens % (drafted + 1)
        tokens.append([5 + (request.num_tokens + i) * 31 % 97 for i in range(num_accepted)])
    index = {name: position for position, name in enumerate(names)}
    scheduler.update_from_output(output, ModelRunnerOutput(names, index, tokens))
    drafting = [name for name, sampled in zip(names, tokens, strict=True) if sampled and name in scheduler.requests]
    scheduler.update_draft_token_ids(DraftTokenIds(drafting, [[7, 8, 9]] * len(drafting)))


def speculate(policy: str) -> tuple[list[Any], dict[str, int]]:
    """Decisions of every round of a stream with drafts, and the tokens that each request generated."""
    driven = Driven(policy, **SPECULATION)
    stem = prompt(5, 500)
    requests = [driven.add(str(n), [*stem[: 64 * (n % 8)], *prompt(n, 30)], max_tokens=15) for n in range(24)]
    said = []
    while driven.scheduler.requests:
        driven.clock.now_ns += DELAY_ENDED_NS
        output = driven.scheduler.schedule()
        said.append(output_digest(output))
        assert len(said) < 1000
        answer_with_drafts(driven.scheduler, output)
    return said, {request.request_id: request.num_output_tokens for request in requests}


@pytest.mark.parametrize("policy", POLICIES)
def test_drafts_are_verified_as_natively(policy: str) -> None:
    native, native_tokens = speculate("stock")
    assert any(said["scheduled_spec_decode_tokens"] for said in native), "nothing was drafted"
    said, generated = speculate(policy)
    assert generated == native_tokens and set(generated.values()) == {15}
    if policy == "radix":
        assert said == native
