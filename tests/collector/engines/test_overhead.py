"""What recording costs: the command on the real engine, and its figures by value."""

import json
from typing import Any

import pytest

pytest.importorskip("vllm")

from radixflow.collector.engines.in_process_engine import RoundCost
from radixflow.collector.engines.overhead_arms import ARMS, ArmCosts, RecordingArm, Stored, _require_equal_rounds
from radixflow.collector.engines.overhead_figures import Spread, added, figures
from radixflow.schema.errors import RadixflowError
from tests.collector.cli.collect_command import assert_one_sentence, collect


def cost(num_rows: int, schedule_us: int, wall_us: int = 10_000) -> RoundCost:
    return RoundCost(num_rows, 1_000, schedule_us * 1_000, 2_000, 500_000, 9_000_000, wall_us * 1_000)


def arm(name: str, *repetitions: list[RoundCost], **more: Any) -> ArmCosts:
    return ArmCosts(RecordingArm(name), list(repetitions), [0] * len(repetitions), **more)


STOCK = arm("stock", [cost(rows, 100) for rows in (1, 2, 4, 8)], [cost(rows, 100) for rows in (1, 2, 4, 8)])


def test_the_fit_finds_what_a_round_and_what_a_row_adds() -> None:
    recorded = arm("recorded", *[[cost(rows, 100 + 15 + 3 * rows) for rows in (1, 2, 4, 8)]] * 2)
    found = added(recorded, STOCK)
    assert (found.round_us, found.row_us) == (pytest.approx(15), pytest.approx(3))
    assert found.median_us == pytest.approx(24)  # of 18, 21, 27, 39
    assert found.fraction == pytest.approx(24 / 10_000)


def test_one_disturbed_repetition_of_three_changes_nothing() -> None:
    quiet = [cost(rows, 115) for rows in (1, 2, 4, 8)]
    disturbed = [cost(rows, 9_000) for rows in (1, 2, 4, 8)]
    found = added(arm("recorded", quiet, disturbed, quiet), STOCK)
    assert (found.round_us, found.row_us) == (pytest.approx(15), pytest.approx(0))


def test_rounds_of_one_size_have_no_slope() -> None:
    base = arm("stock", [cost(4, 100)] * 3)
    found = added(arm("recorded", [cost(4, 120)] * 3), base)
    assert (found.round_us, found.row_us) == (20, 0)


def test_a_spread_is_the_median_and_the_quartiles() -> None:
    assert Spread.of([1_000, 2_000, 3_000, 4_000, 5_000]) == Spread(3, 2, 4)


def test_stored_bytes_are_those_of_columns() -> None:
    recorded = arm("recorded", [cost(1, 100)] * 4, stored=[Stored(20, 200, 1_200)])
    (_, _, found) = figures([STOCK, STOCK, recorded])
    assert (found.round_bytes, found.row_bytes, found.fixed_bytes) == (50, 10, 1_000)


def test_arms_that_decide_differently_are_not_compared() -> None:
    _require_equal_rounds([STOCK, arm("same", [cost(rows, 120) for rows in (1, 2, 4, 8)])])
    with pytest.raises(RadixflowError, match="other decided other rounds than stock"):
        _require_equal_rounds([STOCK, arm("other", [cost(rows, 120) for rows in (1, 2, 4, 4, 4)])])


def test_a_number_of_turns_below_one_is_refused() -> None:
    result = collect("bench", "overhead", "--repeats", "0")
    assert result.returncode == 2
    assert_one_sentence(result.stderr)


@pytest.mark.engine
@pytest.mark.long
def test_the_command_measures_every_arm_on_the_engine() -> None:
    result = collect("bench", "overhead", "--quick", "--repeats", "1", "--json")
    assert result.returncode == 0, result.stderr
    measured = json.loads(result.stdout)
    arms = {each["name"]: each for each in measured["arms"]}
    names = [each.name for each in ARMS]
    assert list(arms) in (names, names[:-1])  # the last one needs a C compiler
    assert all(each["schedule_us"]["median"] > 0 for each in arms.values())
    assert arms["stock"]["added"] is None and arms["radix, recording off"]["recording"] is None
    stored = [arms[name]["round_bytes"] for name in names[2:6]]
    assert stored == sorted(stored) and len(set(stored[:3])) == 3, (
        "each way of recording stores more than the one before"
    )
    assert arms["+ full probe"]["schedule_us"]["median"] > arms["stock"]["schedule_us"]["median"]
    assert 0 < measured["worker_calls_us"] < 1_000
    assert "turn 1 of 1" in result.stderr
