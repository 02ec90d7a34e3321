"""State-ready with vLLM's own KV connectors: what is selected, and that each is asked once a visit as natively."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.policies.catalog import parse_policy
from radixflow.collector.policies.rules import rules_of
from radixflow.collector.vllm_adapters import visit_lookup
from radixflow.collector.vllm_adapters.visit_lookup import VisitLookups
from radixflow.schema.errors import ExitCode, RadixflowError
from tests.collector.policies.native_reference import native_reference, taken
from tests.collector.policies.same_state import NATIVE, NUM_STATES, OURS, feature_worlds
from tests.collector.policies.test_off_the_plain_path import FAULTS, differences
from tests.scheduler_harness.cloning import clone
from tests.scheduler_harness.connectors import CONNECTORS
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import output_digest, run_round
from tests.scheduler_harness.features import HAS_CONNECTORS

needs_connectors = pytest.mark.skipif(not HAS_CONNECTORS, reason="refused with this release")
FLOW = rules_of(parse_policy("radixflow-immediate"))
BLOCK = 16
DOCUMENT = [5 + position * 7 % 400 for position in range(4 * BLOCK)]


def scheduler_with(
    connector: str, policy: str = "radixflow-immediate", cls: type[Scheduler] = RadixFlowScheduler
) -> Any:
    return build_scheduler(
        cls,
        block_size=BLOCK,
        max_num_seqs=8,
        max_num_batched_tokens=256,
        num_blocks=400,
        max_model_len=2048,
        additional_config={"radixflow": {"policy": policy}},
        kv_transfer_config=CONNECTORS[connector],
    )


def add_crowd(scheduler: Any) -> None:
    """Four questions on one document, and something small behind them."""
    for number in range(4):
        scheduler.add_request(make_request(scheduler, f"question-{number}", DOCUMENT + [21 + number] * 9))
    scheduler.add_request(make_request(scheduler, "small", [401, 402, 403]))


def count_questions(connector: Any) -> Counter[tuple[str, int]]:
    """From now on, how often a connector's own lookup is called, by request and argument."""
    asked: Counter[tuple[str, int]] = Counter()
    native = type(connector).__mro__[1]  # below the class that hands answers on

    class Counting(native):  # type: ignore[misc,valid-type]
        def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> Any:
            asked[request.request_id, num_computed_tokens] += 1
            return super().get_num_new_matched_tokens(request, num_computed_tokens)

    connector.__class__ = visit_lookup._answering_once(Counting)
    return asked


@needs_connectors
@pytest.mark.parametrize("connector", CONNECTORS)
def test_a_connector_is_asked_once_a_visit_with_the_native_argument(connector: str) -> None:
    scheduler, native = scheduler_with(connector), scheduler_with(connector)
    native.rules = ()
    asked, asked_natively = count_questions(scheduler.connector), count_questions(native.connector)
    for one in (scheduler, native):
        add_crowd(one)
    first, first_native = run_round(scheduler), run_round(native)
    assert set(asked.values()) == {1}
    assert list(first.num_scheduled_tokens.items())[: len(first_native.num_scheduled_tokens)] == list(
        first_native.num_scheduled_tokens.items()
    )
    assert asked_natively.keys() <= asked.keys()


@needs_connectors
def test_a_rule_that_does_not_hand_its_answer_on_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: the connector is asked at the gate, by the guard, and by native code again."""
    asked = {}
    for hands_on in (True, False):
        if not hands_on:
            monkeypatch.setattr(VisitLookups, "take", lambda lookups, method, request: None)
        scheduler = scheduler_with("multi", policy="state-ready+frag")
        asked[hands_on] = count_questions(scheduler.connector)
        for number in range(4):
            scheduler.add_request(make_request(scheduler, f"apart-{number}", [300 + number] * 49))
        scheduler.schedule()
    assert max(asked[True].values()) == 1 and max(asked[False].values()) == 2


@needs_connectors
@pytest.mark.parametrize("connector", ["offloading", "simple-cpu", "nixl", "mooncake"])
def test_blocked_consumers_are_skipped(connector: str) -> None:
    scheduler = scheduler_with(connector)
    add_crowd(scheduler)
    expected, blocked = native_reference(scheduler, False)
    selected, refusals = taken(clone(scheduler), FLOW, False)
    assert (selected, refusals.skipped_as_blocked) == (expected, blocked)
    assert blocked == ["question-1", "question-2", "question-3"] and "small" in selected


def undecided_about_the_second(scheduler: Any) -> Any:
    """A scheduler whose connector cannot tell yet what it has of the second question."""
    native = type(scheduler.connector).__mro__[1]

    class Undecided(native):  # type: ignore[misc,valid-type]
        def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> Any:
            if request.request_id == "question-1":
                return None, False
            return super().get_num_new_matched_tokens(request, num_computed_tokens)

    scheduler.connector.__class__ = visit_lookup._answering_once(Undecided)
    add_crowd(scheduler)
    return scheduler


@needs_connectors
def test_a_request_of_which_the_connector_cannot_tell_yet_is_not_called_blocked() -> None:
    scheduler = undecided_about_the_second(scheduler_with("offloading"))
    expected, blocked = native_reference(scheduler, False)
    selected, refusals = taken(clone(scheduler), FLOW, False)
    assert (selected, refusals.skipped_as_blocked) == (expected, blocked)
    assert blocked == ["question-2", "question-3"] and "small" in selected


@needs_connectors
def test_a_rule_that_does_not_ask_the_connector_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: the local lookup alone decides."""

    def whole(lookups: VisitLookups, request: Any) -> visit_lookup.VisitLookup:
        hit = lookups.local(request)
        return visit_lookup.VisitLookup(hit[0].blocks, hit[1])

    monkeypatch.setattr(VisitLookups, "whole", whole)
    scheduler = undecided_about_the_second(scheduler_with("offloading"))
    assert "question-1" in taken(scheduler, FLOW, False)[1].skipped_as_blocked


@needs_connectors
@pytest.mark.parametrize("connector", ["offloading", "multi", "mooncake"])
def test_random_states_with_a_connector(connector: str) -> None:
    found = differences(NUM_STATES // 2, seed=71_000, connector=connector, is_pooling=False, ample=True)
    assert not any(found[fault] for fault in FAULTS), found
    assert found["blocked"] > 10


@needs_connectors
def test_random_states_with_prompts_computed_elsewhere() -> None:
    """Lookups whose groups end apart, and loads between steps."""
    found = differences(
        NUM_STATES // 2,
        seed=72_000,
        connector="nixl",
        prefilled_elsewhere_share=0.3,
        is_pooling=False,
        session_share=0.0,
        speculation=None,
        ample=True,
    )
    assert not any(found[fault] for fault in FAULTS), found
    assert found["blocked"] > 10


def decisions(classes: tuple[Any, Any], seed: int, **fixed: Any) -> list[Any]:
    """Everything that schedule() said in 20 rounds of random worlds."""
    said = []
    for world in feature_worlds(3, seed, "radix", classes, is_pooling=False, **fixed):
        for _ in world.states(20):
            world.advance()
            said.append(without_job_handles(output_digest(world.last_output)))
    return said


def without_job_handles(digest: Any) -> Any:
    """A digest without what a connector tells its workers: objects of its own."""
    return {name: value for name, value in digest.items() if name != "kv_connector_metadata"}


@needs_connectors
@pytest.mark.parametrize("connector", ["offloading", "multi"])
def test_prefix_stop_with_a_connector_decides_as_vllms_own_class(connector: str) -> None:
    assert decisions(NATIVE, 73_000, connector=connector) == decisions(OURS, 73_000, connector=connector)


def test_a_connector_that_cannot_be_asked_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "radixflow.collector.vllm_adapters.scan_hooks.can_ask", lambda connector: "a KV connector without a lookup"
    )
    with pytest.raises(RadixflowError, match="does not support a KV connector without a lookup") as refused:
        scheduler_with("offloading")
    assert refused.value.exit_code == ExitCode.USAGE
    assert scheduler_with("offloading", policy="radix").rules == ()
