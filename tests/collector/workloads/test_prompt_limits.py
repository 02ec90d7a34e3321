"""Overlength prompts are rejected by name and never cut."""

from hypothesis import given
from hypothesis import strategies as st

from radixflow.collector.workloads.offered_request import OfferedRequest
from radixflow.collector.workloads.prompt_limits import split_by_length


def request(name: str, num_prompt_tokens: int, max_output_tokens: int = 1) -> OfferedRequest:
    return OfferedRequest(name, 0, 0, "d", "cold", "shuffled", tuple([5] * num_prompt_tokens), max_output_tokens, 0)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20))), st.integers(1, 30))
def test_every_request_is_either_whole_or_rejected_by_name(shapes: list[tuple[int, int]], max_model_len: int) -> None:
    offered = [request(f"r{number}", *shape) for number, shape in enumerate(shapes)]
    accepted, rejected = split_by_length(offered, max_model_len)
    assert accepted == [
        each for each in offered if 1 <= len(each.prompt_token_ids) <= max_model_len - each.max_output_tokens
    ]
    assert [each.request for each in rejected] == [each for each in offered if each not in accepted]
    assert all(each.request.request_id in each.reason for each in rejected)


def test_the_longest_prompt_that_fits_is_accepted_and_one_more_token_is_not() -> None:
    accepted, rejected = split_by_length([request("fits", 9), request("long", 10)], max_model_len=10)
    assert [each.request_id for each in accepted] == ["fits"]
    assert rejected[0].reason == (
        "Request long is rejected: its prompt of 10 tokens and 1 output tokens exceed the model length of 10 tokens."
    )
