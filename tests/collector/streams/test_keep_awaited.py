"""radixflow+keep: still a superset of prefix-stop in a round, and more reuse than plain state-ready in small pools."""

import random
from typing import Any

import pytest

from radixflow.collector.policies.catalog import parse_policy
from radixflow.collector.policies.rules import rules_of
from radixflow.collector.policies.traversal.keep_awaited import StateReadyKeepingStates
from radixflow.schema.errors import RadixflowError
from tests.collector.policies.same_state import NUM_STATES, random_states, scheduled_by
from tests.collector.streams.observed_streams import Offer, StreamReport, StreamRun, scheduler_for
from tests.scheduler_harness.cloning import clone

SMALL_POOL = 60
"""Blocks; the rows of one round could take far more."""


def selected_keeping(scheduler: Any) -> tuple[dict[str, int], list[str]]:
    """What the rule selects from a state that it has known from the start, in order, and whom it keeps out."""
    twin, kept_out = clone(scheduler), []
    twin.rules = rules_of(parse_policy("state-ready+keep"))
    (rule,) = twin.rules
    for request in twin.waiting_requests():
        rule.registered(request, 0)
    native = rule.refuse

    def refuse(scan: Any, request: Any) -> Any:
        refusal = native(scan, request)
        if refusal is not None and refusal.reason == "awaited_states":
            kept_out.append(request.request_id)
        return refusal

    rule.refuse = refuse
    return dict(twin.schedule().num_scheduled_tokens), kept_out


def violations(num_states: int) -> tuple[int, int]:
    """States in which the selection does not start with that of prefix-stop, and requests that were kept out."""
    num_violations = num_kept_out = 0
    for scheduler in random_states(num_states, seed=9000, policy="radix"):
        native = scheduled_by(scheduler, "radix")
        selected, kept_out = selected_keeping(scheduler)
        num_violations += list(selected.items())[: len(native)] != list(native.items())
        num_kept_out += len(kept_out)
    return num_violations, num_kept_out


def test_a_round_still_holds_what_prefix_stop_selects() -> None:
    num_violations, num_kept_out = violations(NUM_STATES)
    assert num_violations == 0
    assert num_kept_out > 0, "nobody was kept out: the rule was not tested"


def test_a_rule_that_also_keeps_out_before_the_stop_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control arm: awaited prefixes count in front of the first BLOCKED request, too."""

    def start_step(self: StateReadyKeepingStates, scan: Any) -> None:
        self._is_behind_blocked = True

    monkeypatch.setattr(StateReadyKeepingStates, "start_step", start_step)
    assert violations(NUM_STATES)[0] > 0


def pressed(policy: str) -> StreamReport:
    """Thirty documents of ten blocks with four readers each, all at once in a small pool."""
    rng, block = random.Random(0), 64
    offers = []
    for document in range(30):
        stem = tuple(rng.randrange(5, 500) for _ in range(10 * block))
        offers += [Offer(f"{document}-{reader}", (*stem, 5 + reader), max_tokens=4) for reader in range(4)]
    shape = {"block_size": block, "max_num_seqs": 16, "max_num_batched_tokens": 8 * block, "num_blocks": SMALL_POOL}
    return StreamRun(scheduler_for(policy, **shape), offers).finish()


def test_it_gives_back_reuse_that_filling_rounds_costs_in_a_small_pool() -> None:
    native, plain, keeping = (
        pressed(policy)
        for policy in ("radix+precise", "radixflow-immediate+precise", "radixflow-immediate+keep+precise")
    )
    assert plain.total("reused") < keeping.total("reused") <= native.total("reused")
    assert all(life.outcome == "finished" for life in keeping.lives.values())
    assert set(keeping.deferrals) == {"blocked", "awaited_states"}


def test_an_ended_request_awaits_nothing() -> None:
    scheduler = scheduler_for(
        "radixflow+keep", block_size=64, max_num_seqs=4, max_num_batched_tokens=256, num_blocks=80
    )
    offers = [Offer(str(n), tuple(range(5, 400)), aborted_ns=1 if n == 3 else None) for n in range(4)]
    StreamRun(scheduler, offers).finish()
    (rule,) = (rule for rule in scheduler.rules if isinstance(rule, StateReadyKeepingStates))
    assert not rule._waiting and not rule._num_awaiting


def test_only_state_ready_traversal_can_keep() -> None:
    with pytest.raises(RadixflowError, match="Unknown policy"):
        parse_policy("radix+keep")
