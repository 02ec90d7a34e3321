"""Lists of a shadow: copied when they are touched, so that the real ones never change."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("vllm")

from radixflow.collector.vllm_adapters.shadow import OwnLists, _own_container

WAYS: list[Callable[[dict[str, list[int]]], Any]] = [
    lambda lists: lists["a"],
    lambda lists: lists.get("a"),
    lambda lists: lists.setdefault("a", []),
    lambda lists: lists.pop("a"),
    lambda lists: next(iter(lists.values())),
    lambda lists: next(iter(lists.items()))[1],
]


@pytest.mark.parametrize("way", range(len(WAYS)))
def test_whatever_way_a_list_is_reached_the_real_one_stays(way: int) -> None:
    real = {"a": [1, 2], "b": [3]}
    own = _own_container(real)
    WAYS[way](own).append(9)
    assert real == {"a": [1, 2], "b": [3]}


def test_a_list_is_copied_once_and_keeps_its_changes() -> None:
    own = OwnLists({"a": [1]})
    own["a"].append(2)
    own["a"].append(3)
    assert own["a"] == own.get("a") == [1, 2, 3]
    own["a"] = [7]
    assert own.pop("a") == [7]
    with pytest.raises(KeyError):
        own["a"]


def test_a_default_is_made_as_in_the_real_dict() -> None:
    real: defaultdict[str, list[int]] = defaultdict(list, {"a": [1]})
    own = _own_container(real)
    own["new"].append(5)
    assert own["new"] == [5] and "new" not in real


def test_a_plain_copy_would_share_its_lists() -> None:
    """The arm that fails."""
    real = {"a": [1, 2]}
    real.copy()["a"].append(9)
    assert real == {"a": [1, 2, 9]}


def test_dicts_without_lists_are_copied_as_they_are() -> None:
    own = _own_container({"a": 1, "b": (2,)})
    assert type(own) is dict and own == {"a": 1, "b": (2,)}
