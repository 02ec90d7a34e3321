"""A consumer whose state is being written meets one more condition of vLLM's: that outcome stays vLLM's own.

In each case a producer takes a document to a block boundary in this step, a consumer that waits for that state comes
next, and behind it something small that would fit. Where vLLM would end the scan at the consumer before it looks at the
state, state-ready has to end it there too; the reference is vLLM's own scan (`native_reference`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from vllm.multimodal.inputs import MultiModalFeatureSpec, PlaceholderRange
from vllm.v1.core.encoder_cache_manager import EncoderCacheManager

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.policies.catalog import parse_policy
from radixflow.collector.policies.rules import rules_of
from radixflow.collector.vllm_adapters.budget import VERSION, RoundBudget
from radixflow.collector.vllm_adapters.native_checks import PADS_THE_FIRST_ROW, NativeChecks
from tests.collector.policies.native_reference import native_reference, taken
from tests.scheduler_harness.cloning import clone
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import run_round
from tests.scheduler_harness.features import HAS_RETENTION, SPECULATION

BLOCK = 16
DOCUMENT = [5 + position * 7 % 400 for position in range(4 * BLOCK)]
ALL_STATES_ARE_KEPT: dict[str, Any] = {"prefix_cache_retention_interval": None} if HAS_RETENTION else {}
"""By default only the states at the end of a prompt are; then a decode marks none."""
FLOW = rules_of(parse_policy("radixflow-immediate"))


def scheduler_with(budget_left: int, tail: int, **arguments: Any) -> Any:
    """Producer, consumer with a tail of its own, and a small request; tokens left behind the producer are given."""
    scheduler: Any = build_scheduler(
        RadixFlowScheduler,
        block_size=BLOCK,
        max_num_seqs=8,
        max_num_batched_tokens=len(DOCUMENT) + budget_left,
        num_blocks=400,
        max_model_len=2048,
        **arguments,
    )
    add(scheduler, "producer", [*DOCUMENT, 11, 12, 13])
    add(scheduler, "consumer", DOCUMENT + [21 + number for number in range(tail)])
    return scheduler


def add(scheduler: Any, name: str, prompt: list[int], **arguments: Any) -> Any:
    """One request in the queue."""
    request = make_request(scheduler, name, prompt, **arguments)
    scheduler.add_request(request)
    return request


class StillInTransit:
    """Where encoder outputs come from: none has arrived."""

    def ensure_cache_available(self, request: Any, num_computed_tokens: int) -> bool:
        return False

    def has_cache_item(self, identifier: str) -> bool:
        return False

    def build_connector_meta(self, output: Any) -> None:
        return None


def image(name: str, offset: int, length: int) -> MultiModalFeatureSpec:
    return MultiModalFeatureSpec(None, "image", name, PlaceholderRange(offset=offset, length=length))


def plain() -> Any:
    scheduler = scheduler_with(budget_left=64, tail=40)
    add(scheduler, "small", [401, 402, 403])
    return scheduler


def no_aligned_chunk() -> Any:
    scheduler = scheduler_with(budget_left=BLOCK - 1, tail=40)
    add(scheduler, "small", [401, 402, 403])
    return scheduler


def no_chunked_prefill() -> Any:
    scheduler = scheduler_with(budget_left=2 * BLOCK, tail=40)
    scheduler.scheduler_config.enable_chunked_prefill = False
    add(scheduler, "small", [401, 402, 403])
    return scheduler


def no_room_for_padding() -> Any:
    scheduler = scheduler_with(budget_left=2, tail=1, speculative_config=SPECULATION["ngram"])
    add(scheduler, "small", [401, 402])
    return scheduler


def encoder_budget_spent(budget_left: int = 200) -> Any:
    scheduler = scheduler_with(budget_left=budget_left, tail=40)
    scheduler.max_num_encoder_input_tokens = 8
    scheduler.encoder_cache_manager = EncoderCacheManager(cache_size=64)
    first, second = list(scheduler.requests.values())
    scheduler.finish_requests(["producer", "consumer"], type(first.status).FINISHED_ABORTED)
    add(scheduler, "seeing", [401] * 20, mm_features=[image("one", 2, 8)])
    add(scheduler, "producer", list(first.prompt_token_ids))
    add(scheduler, "consumer", list(second.prompt_token_ids), mm_features=[image("two", len(DOCUMENT), 6)])
    add(scheduler, "small", [401, 402, 403])
    return scheduler


def encoder_output_in_transit() -> Any:
    scheduler = scheduler_with(budget_left=200, tail=40)
    scheduler.requests["consumer"].mm_features = [image("two", len(DOCUMENT), 6)]
    scheduler.max_num_encoder_input_tokens = 64
    scheduler.encoder_cache_manager = EncoderCacheManager(cache_size=64)
    scheduler.ec_connector = StillInTransit()
    add(scheduler, "small", [401, 402, 403])
    return scheduler


def output_in_flight() -> Any:
    scheduler = scheduler_with(budget_left=64, tail=40)
    scheduler.requests["consumer"].num_stale_output_tokens = 1
    add(scheduler, "small", [401, 402, 403])
    return scheduler


def throttled_without_decodes() -> tuple[Any, bool]:
    return plain(), True


def deferred_prefills() -> Any:
    """The state is being written by a decoding request that crosses a boundary; prefills are put off in this step."""
    scheduler = scheduler_with(budget_left=64, tail=40, **ALL_STATES_ARE_KEPT)
    scheduler.finish_requests(["producer", "consumer"], type(scheduler.requests["producer"].status).FINISHED_ABORTED)
    decoding = add(scheduler, "decoding", DOCUMENT[:-3], max_tokens=20)
    while decoding.num_computed_tokens < len(DOCUMENT) - 1:
        run_round(scheduler)
    add(scheduler, "consumer", list(decoding.all_token_ids)[: len(DOCUMENT)] + [21 + number for number in range(40)])
    add(scheduler, "small", [401])
    scheduler.prefill_capacity_bound = False
    return scheduler


def throttled_with_decodes() -> tuple[Any, bool]:
    return deferred_prefills(), True


def within_the_prefill_interval() -> Any:
    scheduler = deferred_prefills()
    scheduler.local_prefill_interval = 50
    return scheduler


Case = Callable[[], Any]
NATIVE_STOPS: dict[Case, tuple[type, str, Callable[..., Any]] | None] = {
    no_aligned_chunk: None,
    no_chunked_prefill: (NativeChecks, "_may_be_cut", lambda checks: True),
    no_room_for_padding: (NativeChecks, "_padded", lambda checks, computed, wanted, left: wanted),
    encoder_budget_spent: (NativeChecks, "_with_encoder_inputs", lambda checks, request, computed, wanted: wanted),
    throttled_with_decodes: (RoundBudget, "_defers_prefills", lambda budget, throttled: False),
    within_the_prefill_interval: (RoundBudget, "_defers_prefills", lambda budget, throttled: False),
}
"""Cases in which native code ends the scan at the consumer, with the check of ours that knows it."""
NATIVE_SKIPS: dict[Case, tuple[type, str, Callable[..., Any]]] = {
    encoder_output_in_transit: (NativeChecks, "_encoder_transfer_is_pending", lambda checks, request, computed: False),
    output_in_flight: (NativeChecks, "skips", lambda checks, request: False),
}
"""Cases in which native code puts the consumer back for another reason and scans on."""
NOT_IN_THIS_RELEASE = {
    no_room_for_padding: not PADS_THE_FIRST_ROW,
    within_the_prefill_interval: VERSION < (0, 33),
    encoder_budget_spent: False,
    output_in_flight: VERSION < (0, 27),
}


def outcome(case: Case) -> tuple[dict[str, int], list[str], dict[str, int], list[str]]:
    """What state-ready selects and skips as BLOCKED in a case, and what the reference says."""
    if NOT_IN_THIS_RELEASE.get(case):
        pytest.skip("this release has no such condition")
    made = case()
    scheduler, throttles = made if isinstance(made, tuple) else (made, False)
    scheduler.rules = FLOW
    expected, blocked = native_reference(scheduler, throttles)
    selected, refusals = taken(clone(scheduler), FLOW, throttles)
    return selected, refusals.skipped_as_blocked, expected, blocked


@pytest.mark.parametrize("case", [plain, throttled_without_decodes])
def test_a_blocked_consumer_is_skipped(case: Case) -> None:
    selected, skipped, expected, blocked = outcome(case)
    assert (selected, skipped) == (expected, blocked)
    assert skipped == ["consumer"] and "small" in selected


@pytest.mark.parametrize("case", NATIVE_STOPS)
def test_the_scan_ends_where_vllm_ends_it(case: Case) -> None:
    selected, skipped, expected, blocked = outcome(case)
    assert (selected, skipped) == (expected, blocked)
    goes_on = case is encoder_budget_spent and VERSION >= (0, 33)  # where vLLM puts the request back instead
    assert not skipped and ("small" in selected) == goes_on


@pytest.mark.parametrize("case", NATIVE_SKIPS)
def test_what_vllm_puts_back_is_not_called_blocked(case: Case) -> None:
    selected, skipped, expected, blocked = outcome(case)
    assert (selected, skipped) == (expected, blocked)
    assert not skipped and "small" in selected


@pytest.mark.parametrize("case", [case for case, check in (NATIVE_STOPS | NATIVE_SKIPS).items() if check is not None])
def test_a_rule_that_does_not_know_the_condition_is_caught(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: without its check, the consumer is called BLOCKED although vLLM would not have come to its state."""
    check = (NATIVE_STOPS | NATIVE_SKIPS)[case]
    assert check is not None
    monkeypatch.setattr(*check)
    selected, skipped, expected, blocked = outcome(case)
    assert (selected, skipped) != (expected, blocked)


@pytest.mark.parametrize("policy", ["state-ready+frag", "state-ready+keep"])
@pytest.mark.parametrize("case", NATIVE_STOPS)
def test_so_it_is_with_a_guard_and_an_experiment(case: Case, policy: str) -> None:
    """They keep requests back, too: not one at which vLLM would end its scan."""
    if NOT_IN_THIS_RELEASE.get(case):
        pytest.skip("this release has no such condition")
    made = case()
    scheduler, throttles = made if isinstance(made, tuple) else (made, False)
    scheduler.rules = rules_of(parse_policy(policy))
    for rule in scheduler.rules:
        for request in scheduler.requests.values():
            rule.registered(request, 0)
    selected, _ = taken(scheduler, scheduler.rules, throttles)
    goes_on = case is encoder_budget_spent and VERSION >= (0, 33)
    assert ("small" in selected) == goes_on


@pytest.mark.skipif(VERSION >= (0, 33), reason="vLLM puts such a request back itself")
@pytest.mark.parametrize("stands_aside", [True, False], ids=["", "control arm"])
def test_the_guard_stands_aside_where_vllm_ends_the_scan(stands_aside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The consumer's segment would be cut, but its encoder inputs end the scan before it is."""
    if not stands_aside:
        monkeypatch.setattr(RadixFlowScheduler, "reaches_allocation", lambda scan, request: True)
    scheduler = encoder_budget_spent(budget_left=36)
    selected, _ = taken(scheduler, rules_of(parse_policy("prefix-stop+frag")), False)
    assert ("small" in selected) == (not stands_aside)


def test_prefix_stop_on_a_throttled_step_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: a rule that stands aside on every throttled step, as it once did."""
    monkeypatch.setattr(RoundBudget, "_defers_prefills", lambda budget, throttled: throttled)
    selected, _, expected, _ = outcome(throttled_without_decodes)
    assert "small" in expected and "small" not in selected


def test_a_blocked_request_is_left_for_want_of_capacity() -> None:
    """vLLM throttles prefills unless requests were left; a skipped consumer counts as it does natively."""
    by_policy = {}
    for policy in ("radix", "radixflow-immediate", "radix+timer10"):
        scheduler = plain()
        scheduler.clock = lambda: 0
        scheduler.rules = rules_of(parse_policy(policy))
        for rule in scheduler.rules:
            for request in scheduler.requests.values():
                rule.registered(request, 0)
        scheduler.schedule()
        by_policy[policy] = scheduler.prefill_capacity_bound
    assert by_policy == {"radix": True, "radixflow-immediate": True, "radix+timer10": False}
