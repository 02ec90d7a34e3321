"""Progress in words, and numbers with units."""

import io
import json
from pathlib import Path

import pytest

from radixflow.collector.cli.progress import described, progress_display
from radixflow.collector.cli.summary import format_value, print_grid, print_json, print_tables, read_summary
from radixflow.collector.engines.arm_progress import ArmProgress, estimate_seconds_left, num_rounds_so_far
from tests.stalled_builder import stalled_run


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(None, "ms", "-"), (0, "", "0"), (1234567, "", "1,234,567"), (12.345, "ms", "12.3 ms"), (1234.5, "ms", "1,234 ms"),
     (0.01234, "ms", "0.0123 ms"), (3, "+", "+3"), (-3, "+", "-3"), (0, "+", "0"), (-7.126, "+ms", "-7.13 ms"),
     (7.126, "+ms", "+7.13 ms"), (1.0, "%", "100 %"), (0.9876, "%", "98.8 %"), (0.0, "ms", "0.00 ms")],
)  # fmt: skip
def test_values_have_units_and_three_significant_digits(value: float | None, unit: str, text: str) -> None:
    assert format_value(value, unit) == text


def test_columns_are_aligned() -> None:
    out = io.StringIO()
    print_grid([("", "radix"), ("rounds", "7")], out)
    assert out.getvalue() == "        radix\nrounds      7\n"


def test_an_arm_alone_has_no_differences(tmp_path: Path) -> None:
    columns = ("num_rounds", "rows_per_round", "tokens_per_round", "mean_latency_ms", "p50_latency_ms",
               "p95_latency_ms", "num_requests_finished", "num_scheduled_tokens", "num_reused_tokens",
               "num_blocked_visits", "rows_avoidable", "num_stalls", "num_stalled_steps", "stalled_ms")  # fmt: skip
    run = {"run": 0, "label": "stock"} | dict.fromkeys(columns)
    out = io.StringIO()
    print_tables([run], [], out)
    assert "Difference" not in out.getvalue()
    out = io.StringIO()
    print_json([tmp_path], [run], [], out)
    assert json.loads(out.getvalue())["run_summary"][0]["num_rounds"] is None


def test_stalls_stand_in_the_summary(tmp_path: Path) -> None:
    runs, pairs = read_summary([stalled_run(tmp_path)])
    out = io.StringIO()
    print_tables(runs, pairs, out)
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["stalls", "2"] in lines and ["stalled", "steps", "15"] in lines
    assert ["stalled", "time", "0.0041", "ms"] in lines


def test_progress_names_rounds_requests_and_time_left() -> None:
    progress = ArmProgress("radix", "sending", num_requests=120, num_done=30, num_rounds=17, seconds_left=4.2)
    assert described(progress) == "30 of 120 requests, 17 rounds, 4 s left"
    assert described(ArmProgress("stock", "starting", 120)) == "0 of 120 requests"


def test_without_a_terminal_progress_is_a_few_plain_lines() -> None:
    stream = io.StringIO()
    with progress_display(stream) as display:
        for done in range(100):
            display.show(ArmProgress("radix", "sending", 100, done, done))
        display.show(ArmProgress("radix", "ending", 100, 100, 60))
    assert stream.getvalue().splitlines() == [
        "radix: recording, 0 of 100 requests, 0 rounds",
        "radix: stopping the engine, 100 of 100 requests, 60 rounds",
    ]


def test_on_a_terminal_progress_is_a_bar() -> None:
    pytest.importorskip("rich")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with progress_display(stream) as display:
        display.show(ArmProgress("radix", "sending", 100, 40, 25, 3.0))
        display.show(ArmProgress("radixflow-immediate", "starting", 100))
    assert "25 rounds" in stream.getvalue()
    assert "radixflow-immediate" in stream.getvalue()


def test_time_left_follows_the_pace_but_not_below_the_arrivals() -> None:
    assert estimate_seconds_left(10, 0, 100, 5) is None
    assert estimate_seconds_left(10, 50, 100, 5) == 10
    assert estimate_seconds_left(1, 50, 100, 30) == 29
    assert estimate_seconds_left(10, 100, 100, 5) == 0


def test_rounds_are_read_from_the_status_of_the_engine(tmp_path: Path) -> None:
    assert num_rounds_so_far(tmp_path) is None
    (tmp_path / "writers").mkdir()
    status = tmp_path / "writers" / "engine.json"
    for content, rounds in [
        ("{", None),
        ("[]", None),
        ('{"rows_written": {}}', 0),
        ('{"rows_written": {"rounds": 7}}', 7),
    ]:
        status.write_text(content)
        assert num_rounds_so_far(tmp_path) == rounds
