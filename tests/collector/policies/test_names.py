"""Names of policies: aliases, general forms and what is refused."""

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from radixflow.collector.policies.catalog import ALIASES, DELAYED, FLAGS, NATIVE, TRAVERSALS, Policy, parse_policy
from radixflow.schema.errors import ExitCode, RadixflowError
from tests.collector.cli.collect_command import assert_one_sentence, collect


@pytest.mark.parametrize("alias", ALIASES)
def test_the_general_form_of_an_alias_names_the_same_policy(alias: str) -> None:
    policy = parse_policy(alias)
    assert parse_policy(policy.name) == policy


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("state-ready+flex:5ms+frag", Policy("state-ready", "flex", 5.0, frag=True)),
        ("prefix-stop+timer:10ms", Policy("prefix-stop", "timer", 10.0)),
        ("prefix-stop+timer-ordered:2.5ms", Policy("prefix-stop", "timer-ordered", 2.5)),
        ("radix+precise", Policy("prefix-stop", precise=True)),
        ("radixflow+precise", Policy("state-ready", "flex", 5.0, precise=True)),
        ("radixflow+immediate+precise", Policy("state-ready", precise=True)),
        ("radix+flex+precise", Policy("prefix-stop", "flex", 5.0, precise=True)),
    ],
)
def test_names_combine(name: str, policy: Policy) -> None:
    assert parse_policy(name) == policy


@pytest.mark.parametrize(
    "name",
    ["", "radx", "radixflow+", "radix+flex:5s", "stock+precise", "radix+precise+precise", "state-ready+timer:ms"],
)
def test_an_unknown_name_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(RadixflowError, match=r"Unknown policy .* radixflow-immediate") as refused:
        parse_policy(name)
    assert refused.value.exit_code == ExitCode.USAGE


def policies() -> list[Policy]:
    """Every combination of traversal, admission (with a delay of 5 ms) and modifiers that is allowed."""
    admissions = [("immediate", 0.0), *((admission, 5.0) for admission in DELAYED)]
    flags = [chosen for count in range(len(FLAGS) + 1) for chosen in combinations(FLAGS, count)]
    found = []
    for traversal, admission, chosen in product(TRAVERSALS, admissions, flags):
        try:
            found.append(Policy(traversal, *admission, **dict.fromkeys(chosen, True)))
        except ValueError:
            continue
    return found


@given(delay_ms=some.floats(min_value=0, max_value=1e300))
@example(delay_ms=1234567.5)
@example(delay_ms=1e-7)
@settings(max_examples=50, deadline=None)
def test_a_printed_name_is_read_back(delay_ms: float) -> None:
    for policy in policies():
        other = replace(policy, delay_ms=delay_ms) if policy.admission in DELAYED else policy
        assert parse_policy(other.name) == other


def test_every_combination_is_there_but_those_that_make_no_sense() -> None:
    num_flags = 2 ** len(FLAGS)
    # Prefix-stop cannot keep awaited states; vLLM's own class takes no rules at all.
    assert len(policies()) == (1 + len(DELAYED)) * (num_flags + num_flags // 2) + 1
    assert Policy(NATIVE) in policies()


@pytest.mark.parametrize("delay_ms", [1234567.5, 1e-7])
def test_the_shortest_form_of_a_delay_would_not_be_read_back(delay_ms: float) -> None:
    with pytest.raises(RadixflowError, match="Unknown policy"):
        parse_policy(f"state-ready+flex:{delay_ms:g}ms")


@pytest.mark.parametrize(
    "fields",
    [
        {"traversal": "native", "frag": True},
        {"traversal": "native", "admission": "flex", "delay_ms": 5.0},
        {"traversal": "prefix-stop", "keep": True},
        {"traversal": "prefix-stop", "delay_ms": 5.0},
        {"traversal": "prefix-stop", "admission": "flex", "delay_ms": float("inf")},
        {"traversal": "prefix-stop", "admission": "flex", "delay_ms": 1e305},
        {"traversal": "prefix-stop", "admission": "flex", "delay_ms": -1.0},
        {"traversal": "prefix-stop", "admission": "flexible"},
        {"traversal": "sideways"},
    ],
)
def test_rules_that_do_not_go_together_make_no_policy(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Policy(**fields)


@pytest.mark.parametrize(
    ("name", "admissions"),
    [
        ("prefix-stop+flex:5ms+timer:10ms", "flex:5ms, timer:10ms"),
        ("radix+flex+timer:10ms", "flex, timer:10ms"),
        ("radix+timer5-ordered+flex:1ms", "timer5-ordered, flex:1ms"),
        ("radix+timer10+immediate", "timer10, immediate"),
    ],
)
def test_two_admission_rules_are_refused_in_one_sentence(name: str, admissions: str) -> None:
    with pytest.raises(RadixflowError) as refused:
        parse_policy(name)
    assert str(refused.value) == f"Policy {name!r} names more than one admission rule ({admissions}): keep one."
    assert refused.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize("name", ["radixflow+timer:10ms", "radixflow+flex:10ms", "radixflow+immediate"])
def test_one_spelt_out_admission_rule_takes_the_place_of_that_of_an_alias(name: str) -> None:
    assert parse_policy(name).name == name.replace("radixflow", "state-ready").replace("+immediate", "")


def test_the_command_refuses_two_admission_rules_with_exit_code_2() -> None:
    done = collect("--model", "tiny-hybrid", "--policy", "radix+flex+timer:10ms")
    assert done.returncode == ExitCode.USAGE
    assert "names more than one admission rule (flex, timer:10ms): keep one." in done.stderr
    assert_one_sentence(done.stderr)
