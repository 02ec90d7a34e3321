"""The traversal behind a policy's name decides order and colour of an arm."""

import pytest

from radixflow.app.arms import traversal
from radixflow.app.queries.run_catalog import default_arms, list_runs
from tests import builders


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("stock", "native"),
        ("radix", "prefix-stop"),
        ("radix+timer5-ordered", "prefix-stop"),
        ("radixflow", "state-ready"),
        ("radixflow-immediate+precise", "state-ready"),
        ("state-ready+flex:5ms", "state-ready"),
        ("prefix-stop+precise", "prefix-stop"),
        ("unheard-of", "prefix-stop"),
    ],
)
def test_the_traversal_is_read_from_aliases_and_general_forms(policy, expected):
    assert traversal(policy) == expected


def test_the_pair_shown_first_is_one_of_each_traversal():
    assert default_arms(["radix", "stock", "radixflow", "radixflow+frag"]) == ["radix", "radixflow"]
    assert default_arms(["radix", "radix+flex", "stock"]) == ["radix", "radix+flex"]
    assert default_arms(["state-ready"]) == ["state-ready"]


def test_prefix_stop_arms_are_listed_first(tmp_path):
    builders.tiny_pair(tmp_path)
    assert [choice.policy for choice in list_runs(str(tmp_path)).choices] == ["radix", "radixflow-immediate"]
    assert list_runs(str(tmp_path / "nosuch")).choices == []
