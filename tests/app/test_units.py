"""Numbers as they are written, checked by hand."""

import math

import pytest

from radixflow.app import units


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (None, "not measured"),
        (math.nan, "not measured"),
        (0, "0 ms"),
        (0.0000004, "0.400 ns"),
        (0.00012, "120 ns"),
        (0.0123, "12.3 µs"),
        (3.14159, "3.14 ms"),
        (999.4, "999 ms"),
        (999.6, "1.00 s"),
        (123456.0, "123 s"),
        (-247.1, "−247 ms"),
    ],
)
def test_durations_pick_their_unit_by_size(milliseconds, text):
    assert units.duration(milliseconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not measured"),
        (0, "0"),
        (1360, "1,360"),
        (1.0945, "1.09"),
        (433.4, "433"),
        (0.00123, "0.00123"),
        (9.996, "10.0"),
        (-3.437, "−3.44"),
        (12345.6, "12,300"),
    ],
)
def test_whole_numbers_are_written_in_full_and_others_with_three_digits(value, text):
    assert units.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "not measured"), (0, "0 %"), (-0.0, "0 %"), (1, "100 %"), (0.8668, "86.7 %"), (0.0051, "0.510 %")],
)
def test_shares_are_percentages(value, text):
    assert units.fraction(value) == text


def test_a_difference_shows_its_direction():
    assert units.signed("3.44") == "+3.44"
    assert units.signed("−3.44") == "−3.44"
    assert [units.signed(text) for text in ("0", "0 ms", "not measured")] == ["0", "0 ms", "not measured"]


def test_a_count_agrees_with_its_noun():
    texts = [units.counted(count, "round") for count in (0, 1, 1200)]
    assert texts == ["no rounds", "1 round", "1,200 rounds"]
    assert units.counted(2, "entry", "entries") == "2 entries"
