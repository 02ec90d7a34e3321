"""radixflow+align on a stream in which a request's aligned split stays 0: how often it is passed, and when no more."""

import random

import pytest

from radixflow.collector.policies.traversal.align import MAXIMUM_OVERTAKES, AlignedSplitSkip
from tests.collector.streams.observed_streams import (
    MILLISECOND,
    Offer,
    RoundModel,
    StreamReport,
    StreamRun,
    scheduler_for,
)

BLOCK = 64
LONG_ROUNDS = 120
"""A running prompt takes one block a round and leaves less than a block of the budget."""


def passed(maximum_overtakes: int) -> StreamReport:
    """The stream with a given maximum: ``waits`` needs a whole block, the small ones fit into what is left."""
    rng = random.Random(0)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(rng.randrange(5, 500) for _ in range(count))

    offers = [Offer("long", tokens(LONG_ROUNDS * BLOCK)), Offer("waits", tokens(3 * BLOCK), MILLISECOND)]
    offers += [Offer(f"small-{number}", tokens(12), 2 * MILLISECOND) for number in range(3 * LONG_ROUNDS)]
    scheduler = scheduler_for(
        "prefix-stop+align", block_size=BLOCK, max_num_seqs=8, max_num_batched_tokens=100, num_blocks=1000
    )
    (rule,) = scheduler.rules
    assert isinstance(rule, AlignedSplitSkip)
    scheduler.rules = (AlignedSplitSkip(maximum_overtakes),)
    return StreamRun(scheduler, offers, RoundModel(fixed_ns=MILLISECOND, token_ns=0)).finish()


@pytest.mark.parametrize("maximum", [1, 2, 7, MAXIMUM_OVERTAKES])
def test_a_skipped_request_is_passed_up_to_the_maximum_and_never_more(maximum: int) -> None:
    report = passed(maximum)
    assert report.lives["waits"].num_overtakes == maximum
    assert report.worst("num_overtakes") == maximum
    assert all(life.outcome == "finished" for life in report.lives.values())


def test_without_the_guard_it_is_passed_more_often() -> None:
    """Control arm: no maximum. Every small request passes while the long one runs."""
    report = passed(maximum_overtakes=10**9)
    assert report.lives["waits"].num_overtakes > 2 * MAXIMUM_OVERTAKES


def test_natively_the_scan_ends_there() -> None:
    report = passed(maximum_overtakes=0)
    assert report.total("num_overtakes") == 0
    assert report.deferrals["aligned_split_zero"] == 0
