"""NVTX ranges as a tool receives them: real scheduler, real NVTX library, and a tool that writes every call down."""

import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("vllm")
pytest.importorskip("nvtx")

from radixflow.collector.instrumentation.spans.nvtx_ranges import CLOCK_ANCHOR, DOMAIN, TEXT_OF, NvtxRanges
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from tests.collector.cli.collect_command import IMPORT_ROOT, environment
from tests.collector.instrumentation.spans.nvtx_calls import NvtxRange, attach_tool, closed_ranges, read_calls, texts

ROOT = Path(__file__).parents[4]


class Walk:
    """One walk of ``nvtx_walk.py``: what the tool was told, and what the run holds."""

    def __init__(self, folder: Path, mode: str) -> None:
        run = folder / "run"
        create_run(run, Manifest("e", "s", "radixflow-immediate", state="complete"))
        told = attach_tool(folder)
        script = Path(__file__).with_name("nvtx_walk.py")
        variables = environment(**told, PYTHONPATH=f"{IMPORT_ROOT}:{ROOT}")
        process = subprocess.run(
            [sys.executable, script, run, mode], env=variables, capture_output=True, text=True, timeout=240
        )
        assert process.returncode == 0, process.stderr
        assert process.stdout == "planted\n", "the step that shall raise did not"
        self.calls = read_calls(folder)
        self.ranges = closed_ranges(self.calls)
        self.is_async = mode == "async"
        self.faults = RunDirectory(run).writers()["engine"]["faults"]
        connection = open_runs([run])
        self.num_rounds: int = connection.execute("SELECT count(*) FROM rounds").fetchone()[0]  # type: ignore[index]
        self.spans = connection.execute("SELECT component, round, start_ns, end_ns FROM spans").fetchall()
        connection.close()

    def of(self, text: str) -> list[NvtxRange]:
        return [each for each in self.ranges if each.text == text]


@pytest.fixture(scope="module", params=["sync", "async"])
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    return Walk(tmp_path_factory.mktemp(request.param), request.param)


def test_every_range_is_closed_although_a_step_raised(walk: Walk) -> None:
    """``closed_ranges`` has already refused what was left open; the step that raised is among them."""
    assert max(walk.of("schedule"), key=lambda each: each.start_ns).payload == walk.num_rounds + 1
    assert [each.parent for each in walk.of("lookup") if each.payload == walk.num_rounds + 1] == ["schedule"]
    assert walk.faults == []


def test_ranges_are_as_many_as_rounds_and_their_payload_is_the_round(walk: Walk) -> None:
    rounds = list(range(1, walk.num_rounds + 1))
    assert walk.num_rounds > 10
    assert sorted(each.payload for each in walk.of("round")) == rounds
    assert sorted(each.payload for each in walk.of("dispatch")) == rounds
    assert sorted(each.payload for each in walk.of("update") if each.payload) == rounds
    assert sorted({each.payload for each in walk.of("schedule")}) == [*rounds, walk.num_rounds + 1]


def test_lookups_and_publications_are_as_many_as_in_the_table(walk: Walk) -> None:
    in_table = Counter(component for component, *_ in walk.spans)
    of_rounds = [each for each in walk.ranges if 1 <= each.payload <= walk.num_rounds]
    emitted = texts(of_rounds)
    for component in ("lookup", "publish", "dispatch"):
        assert emitted[component] == in_table[component] > 0
    assert {each.parent for each in walk.of("lookup") + walk.of("publish")} == {"schedule"}


def test_spans_lie_within_the_ranges_of_their_round(walk: Walk) -> None:
    """The table's clock is the tool's: each interval of the table lies in a range with its text and its round."""
    for component, number, start_ns, end_ns in walk.spans:
        around = [
            each for each in walk.of(TEXT_OF[component])
            if each.payload == number and each.start_ns <= start_ns and end_ns <= each.end_ns
        ]  # fmt: skip
        assert len(around) == 1


def test_rounds_overlap_under_async_scheduling_and_only_there(walk: Walk) -> None:
    rounds = sorted(walk.of("round"), key=lambda each: each.start_ns)
    overlaps = sum(after.start_ns < before.end_ns for before, after in pairwise(rounds))
    assert (overlaps > 5) == walk.is_async
    assert walk.is_async or overlaps == 0


def test_texts_are_registered_once_and_constant(walk: Walk) -> None:
    used = {call["text"] for call in walk.calls if call["op"] in ("push", "start", "mark")}
    assert used <= {*TEXT_OF.values(), CLOCK_ANCHOR}
    assert all(call["registered"] for call in walk.calls if call["text"])
    assert {call["domain"] for call in walk.calls} == {DOMAIN}


def test_clock_anchors_carry_our_clock(walk: Walk) -> None:
    anchors = [call for call in walk.calls if call["op"] == "mark"]
    assert len(anchors) >= 2  # at the start and at the end
    assert all(0 <= call["ts"] - call["payload"] < 50_000_000 for call in anchors)  # the tool reads the same clock


@pytest.mark.parametrize(
    "fault",
    [
        lambda calls: calls.remove(next(call for call in calls if call["op"] == "pop")),
        lambda calls: calls.remove(next(call for call in calls if call["op"] == "push")),
        lambda calls: calls.remove(next(call for call in calls if call["op"] == "end")),
    ],
    ids=["a pop is missing", "a push is missing", "an end is missing"],
)
def test_an_unbalanced_stream_is_found(walk: Walk, fault: Any) -> None:
    calls = list(walk.calls)
    fault(calls)
    with pytest.raises((AssertionError, KeyError)):
        closed_ranges(calls)


def test_without_a_tool_nothing_is_made() -> None:
    """What is not made costs nothing; this process has no tool attached."""
    assert NvtxRanges.attach() is None
