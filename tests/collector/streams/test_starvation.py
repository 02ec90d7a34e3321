"""Skipping a blocked consumer does not starve it: what the objection against skipping in vLLM's scheduler asks for.

A round of these streams lasts 1 ms, so that arrivals are timed in rounds.
"""

import random

import pytest

from radixflow.collector.policies.traversal.state_ready import StateReadyTraversal
from radixflow.collector.vllm_adapters.scan import Refusal
from tests.collector.streams.observed_streams import MILLISECOND, Offer, RoundModel, StreamReport, StreamRun
from tests.collector.streams.observed_streams import scheduler_for as build
from tests.collector.streams.test_whole_streams import NUM_STREAMS, run

BLOCK = 64
PRODUCER_ROUNDS = 12
ROWS = 6
NUM_LATER = 300
POLICIES = [
    f"{policy}{modifier}" for policy in ("radixflow", "radixflow-immediate", "radixflow+frag", "radixflow+align")
    for modifier in ("", "+precise")
]  # fmt: skip


def document() -> list[int]:
    rng = random.Random(1)
    return [rng.randrange(5, 500) for _ in range(PRODUCER_ROUNDS * 4 * BLOCK)]


def wait_of_consumer(policy: str, kind: str, num_decoded: int = 1) -> tuple[int, StreamReport]:
    """Rounds that a consumer waits for its document's states while later requests keep coming, one every round.

    Args:
        policy: Policy to schedule with.
        kind: ``unrelated`` later requests, or ``sibling`` ones of the same document.
        num_decoded: Output tokens of each later request.
    """
    shared, rng = document(), random.Random(2)
    offers = [Offer("producer", (*shared, 7)), Offer("consumer", (*shared, 8), 2 * MILLISECOND)]
    for number in range(NUM_LATER):
        own = tuple(rng.randrange(5, 500) for _ in range(20))
        prompt = own if kind == "unrelated" else (*shared, *own)
        offers.append(Offer(f"later-{number}", prompt, (3 + number) * MILLISECOND, num_decoded))
    scheduler = build(
        policy, block_size=BLOCK, max_num_seqs=ROWS, max_num_batched_tokens=4 * BLOCK + 40, num_blocks=2000
    )
    report = StreamRun(scheduler, offers, RoundModel(fixed_ns=MILLISECOND, token_ns=0)).finish()
    wait = report.lives["consumer"].wait_rounds
    assert wait is not None
    return wait, report


@pytest.mark.parametrize("kind", ["unrelated", "sibling"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_consumer_is_served_when_its_state_is_there_though_later_requests_never_stop(policy: str, kind: str) -> None:
    wait, report = wait_of_consumer(policy, kind)
    assert wait <= PRODUCER_ROUNDS + 1
    if kind == "unrelated":
        assert report.lives["consumer"].num_overtakes > 0, "nobody overtook it: nothing was tested"


@pytest.mark.parametrize("policy", POLICIES)
def test_whoever_overtook_keeps_its_row_and_no_longer(policy: str) -> None:
    """The real price of being passed: all rows may be taken by requests that decode; they end, and nobody follows."""
    num_decoded = 40
    wait, _ = wait_of_consumer(policy, "unrelated", num_decoded)
    assert wait <= PRODUCER_ROUNDS + num_decoded + 1


def test_a_traversal_that_starves_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: the consumer is skipped as long as anybody else waits behind it."""
    native = StateReadyTraversal.refuse

    def refuse(self: StateReadyTraversal, scan: object, request: object) -> Refusal | None:
        is_consumer = getattr(request, "request_id", "") == "consumer"
        if is_consumer and scan.num_waiting_requests() > 1:  # type: ignore[attr-defined]
            return Refusal("other", "starved")
        return native(self, scan, request)  # type: ignore[arg-type]

    monkeypatch.setattr(StateReadyTraversal, "refuse", refuse)
    assert wait_of_consumer("radixflow-immediate", "unrelated", num_decoded=8)[0] > NUM_LATER / 2


@pytest.mark.parametrize("policy", ["radix", "radixflow-immediate", "radixflow", "radixflow-immediate+precise"])
def test_nobody_is_overtaken_but_for_a_stated_reason(policy: str) -> None:
    for seed in range(0, NUM_STREAMS, 2):  # asynchronous scheduling also skips requests whose output is stale
        assert run(policy, seed).unexplained == []
