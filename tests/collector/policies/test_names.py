"""Names of policies: aliases, general forms and what is refused."""

import pytest

from radixflow.collector.policies.catalog import ALIASES, Policy, parse_policy
from radixflow.schema.errors import ExitCode, RadixflowError


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
