"""On the real engine, no policy changes an answer; an arm without the same-step check is caught by the same audit."""

import os

import pytest

pytest.importorskip("vllm")

from radixflow.collector.policies.catalog import ALIASES
from tests.collector.outputs.findings import WRONG, Finding
from tests.collector.outputs.process import run_audit

pytestmark = pytest.mark.audit  # minutes on a quiet machine: make test-outputs
NUM_SEEDS = int(os.environ.get("RADIXFLOW_NUM_OUTPUT_SEEDS", "1"))
"""Streams of 40 requests for each of the two geometries of the cache."""
FIRST_SEED = 1
PRECISE = ("radix", "radixflow-immediate", "radixflow+frag")
NO_CACHE, CONTROL = "stock, no prefix cache", "no same-step check (control)"
POLICIES = [name for name in ALIASES if name != "stock"] + [f"{name}+precise" for name in PRECISE]


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Finding]]:
    """What the audit found, by arm: one finding a geometry."""
    file = tmp_path_factory.mktemp("outputs") / "findings.json"
    by_arm: dict[str, list[Finding]] = {}
    for finding in run_audit(file, FIRST_SEED, NUM_SEEDS, PRECISE):
        by_arm.setdefault(finding.arm, []).append(finding)
    return by_arm


def num_first_tokens(findings: list[Finding]) -> int:
    return sum(len(finding.first_tokens) for finding in findings)


def test_every_policy_is_audited(findings: dict[str, list[Finding]]) -> None:
    assert set(findings) == {"stock", NO_CACHE, CONTROL, *POLICIES}
    assert {len(of_arm) for of_arm in findings.values()} == {2}


@pytest.mark.parametrize("policy", POLICIES)
def test_first_tokens_are_those_of_stock(findings: dict[str, list[Finding]], policy: str) -> None:
    """But for near-ties: of 240 requests up to 5, as without any prefix cache (6); of the control arm 56."""
    of_policy = findings[policy]
    assert [first for finding in of_policy for first in finding.first_tokens if not first.is_explained] == []
    assert num_first_tokens(of_policy) <= 0.03 * sum(finding.num_requests for finding in of_policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_first_tokens_that_are_no_near_ties_agree_without_exception(
    findings: dict[str, list[Finding]], policy: str
) -> None:
    """Where the best token leads clearly, computed alone, every policy gives the first token of stock."""
    for finding in findings[policy]:
        assert finding.num_clear >= 0.25 * finding.num_requests
        assert finding.num_clear_that_differ == 0


def test_without_the_same_step_check_clear_first_tokens_differ(findings: dict[str, list[Finding]]) -> None:
    """Control arm of the test above."""
    for finding in findings[CONTROL]:
        assert finding.num_clear_that_differ > 0


@pytest.mark.parametrize("policy", POLICIES)
def test_later_tokens_differ_at_near_ties_only(findings: dict[str, list[Finding]], policy: str) -> None:
    for finding in findings[policy]:
        assert finding.unexplained == []


@pytest.mark.parametrize("arm", ["stock", *POLICIES])
def test_every_token_is_a_good_one_for_the_request_computed_alone(findings: dict[str, list[Finding]], arm: str) -> None:
    """Arms can agree and be wrong alike; no state of another request can be in what is computed alone."""
    for finding in findings[arm]:
        assert finding.num_tokens > 300
        assert finding.num_wrong_tokens == 0, finding.largest_gap_alone


def test_without_the_same_step_check_answers_are_wrong(findings: dict[str, list[Finding]]) -> None:
    """Control arm: consumers are admitted in the step that writes their state."""
    for finding in findings[CONTROL]:
        assert finding.evidence["admitted_early"] > 0
        assert [d for d in finding.first_tokens if not d.is_explained] != []
        assert finding.num_wrong_tokens > 0


def test_without_a_prefix_cache_as_many_tokens_flip(findings: dict[str, list[Finding]]) -> None:
    """The floor of bfloat16, and the reason for the threshold: no request shares a state, and near-ties flip."""
    for finding in findings[NO_CACHE]:
        assert finding.evidence["resumed"] == 0
        assert finding.later_flips
        assert finding.unexplained == []
        assert finding.largest_shift <= WRONG
    floor = sum(len(finding.differences) for finding in findings[NO_CACHE])
    for policy in POLICIES:
        assert sum(len(finding.differences) for finding in findings[policy]) <= 2 * floor


@pytest.mark.parametrize("arm", ["stock", *POLICIES])
def test_the_streams_exercise_what_matters(findings: dict[str, list[Finding]], arm: str) -> None:
    for finding in findings[arm]:
        for what in ("blocked_visits", "evictions", "resumed"):
            assert finding.evidence[what] > 0, (finding.geometry, what)
    total = {name: sum(f.evidence[name] for f in findings[arm]) for name in findings[arm][0].evidence}
    assert total["preemptions"] > 0
    if "timer" in arm or "flex" in arm or "+frag" in arm:
        assert total["held"] > 0
    if "align" in arm:
        assert total["other"] > 0
    assert total["skipped_blocked" if arm.startswith("radixflow") else "native_refusals"] > 0


def test_radix_serves_the_rounds_of_stock(findings: dict[str, list[Finding]]) -> None:
    for stock, radix in zip(findings["stock"], findings["radix"], strict=True):
        assert radix.evidence == stock.evidence
        assert radix.differences == []
