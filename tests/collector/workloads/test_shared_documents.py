"""The default workload: seeded, shaped as its help says, and paired by its digest."""

import dataclasses
import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from radixflow.collector.workloads.arrivals import poisson_offsets_ns
from radixflow.collector.workloads.offered_request import OfferedRequest, stream_digest
from radixflow.collector.workloads.shared_documents import INPUT_ORDERS, REGIMES, SharedDocuments, generate
from radixflow.schema.errors import RadixflowError

PARAMETERS = st.builds(
    SharedDocuments, num_groups=st.integers(1, 12), num_branches=st.integers(1, 5), regime=st.sampled_from(REGIMES),
    input_order=st.sampled_from(INPUT_ORDERS), rate=st.sampled_from([0.0, 0.5, 20.0, float("inf")]),
    seed=st.integers(-5, 5), max_output_tokens=st.integers(1, 3), long_fraction=st.floats(0, 1),
    short_document_tokens=st.integers(1, 40), long_document_tokens=st.integers(1, 200),
    longest_document_tokens=st.integers(1, 300), vocabulary_size=st.integers(3, 600),
)  # fmt: skip


@given(PARAMETERS)
@settings(max_examples=60, deadline=None)
def test_a_stream_has_the_shape_that_was_asked_for(parameters: SharedDocuments) -> None:
    requests = generate(parameters).requests
    assert len(requests) == parameters.num_groups * parameters.num_branches
    assert len({request.request_id for request in requests}) == len(requests)
    assert [(request.request_group, request.branch) for request in requests] == list(
        itertools.product(range(parameters.num_groups), range(parameters.num_branches))
    )
    offsets = [request.offset_ns for request in requests]
    assert offsets == sorted(offsets)
    assert offsets[0] == 0
    for request in requests:
        assert all(2 <= token < parameters.vocabulary_size for token in request.prompt_token_ids)
        assert len(request.prompt_token_ids) <= parameters.longest_document_tokens + 48 + 24
        assert request.max_output_tokens == parameters.max_output_tokens


@given(PARAMETERS)
@settings(max_examples=30, deadline=None)
def test_branches_of_a_question_share_all_but_their_candidate(parameters: SharedDocuments) -> None:
    for _, branches in itertools.groupby(generate(parameters).requests, key=lambda request: request.request_group):
        group = list(branches)
        shared = max(1, min(len(request.prompt_token_ids) for request in group) - 24)
        assert len({request.prompt_token_ids[:shared] for request in group}) == 1
        assert len({request.offset_ns for request in group}) == 1


@given(PARAMETERS)
@settings(max_examples=30, deadline=None)
def test_the_same_parameters_give_the_same_stream(parameters: SharedDocuments) -> None:
    first, second = generate(parameters), generate(parameters)
    assert first == second
    assert first.digest() == second.digest()


def test_the_digest_of_the_default_stream_is_pinned() -> None:
    """Streams must not change unnoticed: runs of different versions are paired by it."""
    digest = generate(SharedDocuments()).digest()
    assert digest == "9442f0f960637efe8b59ff213b8f47485c913f7c209f245545b225919f160295"


@pytest.mark.parametrize(
    "change", ["request_id", "request_group", "branch", "offset_ns", "max_output_tokens", "prompt"]
)
def test_the_digest_sees_each_field(change: str) -> None:
    request = OfferedRequest("a", 1, 2, "d", "cold", "shuffled", (3, 4), 1, 5)
    changes: dict[str, dict[str, object]] = {
        "request_id": {"request_id": "b"}, "request_group": {"request_group": 2}, "branch": {"branch": 3},
        "offset_ns": {"offset_ns": 6}, "max_output_tokens": {"max_output_tokens": 2},
        "prompt": {"prompt_token_ids": (4, 3)},
    }  # fmt: skip
    assert stream_digest([dataclasses.replace(request, **changes[change])]) != stream_digest([request])  # type: ignore[arg-type]


def test_the_digest_sees_the_order_and_where_a_prompt_ends() -> None:
    make = lambda name, prompt: OfferedRequest(name, 0, 0, "d", "cold", "shuffled", prompt, 1, 0)  # noqa: E731
    assert stream_digest([make("a", (1,)), make("b", (1,))]) != stream_digest([make("b", (1,)), make("a", (1,))])
    assert stream_digest([make("a", (1, 2)), make("b", (3,))]) != stream_digest([make("a", (1,)), make("b", (2, 3))])


def test_the_rate_changes_nothing_but_the_arrivals() -> None:
    slow, fast = (generate(SharedDocuments(rate=rate)).requests for rate in (1.0, 100.0))
    assert [request.prompt_token_ids for request in slow] == [request.prompt_token_ids for request in fast]
    assert slow[-1].offset_ns == pytest.approx(100 * fast[-1].offset_ns, rel=1e-6)
    assert all(request.offset_ns == 0 for request in generate(SharedDocuments(rate=0)).requests)


def test_the_input_order_keeps_the_questions() -> None:
    grouped, shuffled = (generate(SharedDocuments(input_order=order)).requests for order in ("grouped", "shuffled"))
    prompts = [[request.prompt_token_ids for request in requests] for requests in (grouped, shuffled)]
    assert prompts[0] != prompts[1]
    assert sorted(prompts[0]) == sorted(prompts[1])


@pytest.mark.parametrize(("regime", "fewest", "most"), [("cold", 40, 40), ("mixed", 14, 25), ("reuse", 10, 10)])
def test_the_regime_is_how_many_questions_share_a_document(regime: str, fewest: int, most: int) -> None:
    requests = generate(SharedDocuments(num_groups=40, regime=regime, short_document_tokens=60)).requests
    documents = {request.prompt_token_ids[:8] for request in requests}
    assert fewest <= len(documents) <= most


def test_long_and_short_documents_are_mixed() -> None:
    lengths = [len(request.prompt_token_ids) for request in generate(SharedDocuments(num_groups=200)).requests]
    assert 0.2 < sum(length > 2000 for length in lengths) / len(lengths) < 0.6
    assert sum(length < 384 for length in lengths) > len(lengths) / 5  # below one cache block of the tiny hybrid


def test_poisson_arrivals_have_the_asked_rate() -> None:
    offsets = poisson_offsets_ns(4000, 20.0, random.Random(1))
    assert offsets[-1] / 1e9 == pytest.approx(200, rel=0.05)
    gaps = [later - earlier for earlier, later in itertools.pairwise(offsets)]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert deviation / mean == pytest.approx(1, rel=0.1)  # exponential gaps


@pytest.mark.parametrize(
    "bad",
    [{"num_groups": 0}, {"num_branches": 0}, {"rate": -1.0}, {"rate": float("nan")}, {"max_output_tokens": 0},
     {"long_fraction": 1.5}, {"vocabulary_size": 2}, {"regime": "warm"}, {"input_order": "sorted"},
     {"short_document_tokens": 0}],
)  # fmt: skip
def test_impossible_parameters_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(RadixflowError, match=r"^--|^Document"):
        SharedDocuments(**bad)  # type: ignore[arg-type]
