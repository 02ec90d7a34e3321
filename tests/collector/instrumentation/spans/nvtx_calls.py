"""What an NVTX tool was really told, read back from the lines of the small tool that the tests compile."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from radixflow.collector.instrumentation.spans.nvtx_tool import ATTACH, OUTPUT, build_nvtx_tool


@dataclass(frozen=True)
class NvtxRange:
    """One range: its text, its payload, the process, and start and end on the tool's clock (monotonic ns)."""

    text: str
    payload: int
    pid: int
    start_ns: int
    end_ns: int
    parent: str | None


def attach_tool(folder: Path) -> dict[str, str]:
    """Environment of a process that writes what it emits to ``folder``; skips the test without a C compiler."""
    library = build_nvtx_tool(folder)
    if library is None:
        pytest.skip("there is no C compiler to build the NVTX tool with")
    return {ATTACH: str(library), OUTPUT: str(folder / "calls.%p.jsonl")}


def read_calls(folder: Path) -> list[dict[str, Any]]:
    """Every call of every process in the order of each file."""
    lines = [line for path in sorted(folder.glob("calls.*.jsonl")) for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def closed_ranges(calls: list[dict[str, Any]]) -> list[NvtxRange]:
    """The ranges behind the calls.

    Raises:
        AssertionError: A range was never closed, or closed twice.
    """
    stacks: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    started: dict[tuple[int, int], dict[str, Any]] = {}
    ranges = []
    for call in calls:
        stack = stacks[call["pid"], call["tid"]]
        if call["op"] == "push":
            stack.append(call)
        elif call["op"] == "start":
            started[call["pid"], call["id"]] = call
        elif call["op"] == "pop":
            assert stack, f"a pop without a push: {call}"
            begun = stack.pop()
            parent = stack[-1]["text"] if stack else None
            ranges.append(NvtxRange(begun["text"], begun["payload"], begun["pid"], begun["ts"], call["ts"], parent))
        elif call["op"] == "end":
            begun = started.pop((call["pid"], call["id"]))
            ranges.append(NvtxRange(begun["text"], begun["payload"], begun["pid"], begun["ts"], call["ts"], None))
    left_open = [call["text"] for stack in stacks.values() for call in stack]
    assert left_open + [call["text"] for call in started.values()] == []
    return ranges


def texts(ranges: list[NvtxRange]) -> Counter[str]:
    """Number of ranges by text, of those that belong to a round."""
    return Counter(each.text for each in ranges)
