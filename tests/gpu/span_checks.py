"""Whether intervals on a device's clock can be true: against the host's clock, each other and the wall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory

TOLERANCE_NS = 50_000
"""Allowed error of the mapping: the uncertainty of an anchor, and a second of drift."""
MAXIMUM_DRIFT_PPM = 200.0
ONCE_A_ROUND = ("execute", "forward", "sample")


class Span(NamedTuple):
    """A row of table ``spans`` of one worker."""

    round: int
    component: str
    clock: str
    start_ns: int
    end_ns: int


def faults(spans: Sequence[Span], updates: dict[int, int], device_clock: dict[str, Any]) -> list[str]:
    """What cannot be true, one sentence each.

    Args:
        spans: Intervals of one worker on both clocks.
        updates: Start of the update of each round (host clock, ns).
        device_clock: What the manifest says of the mapping.
    """
    device = [span for span in spans if span.clock == "device"]
    by_name = {(span.round, span.component): span for span in device}
    host = {(span.round, span.component): span for span in spans if span.clock == "host"}
    return [
        *_missing(device, sorted(updates)),
        *_misplaced(by_name, host, updates),
        *_overlaps(device),
        *_unmapped(device_clock),
    ]


def _missing(device: Sequence[Span], rounds: Sequence[int]) -> list[str]:
    found = Counter((span.round, span.component) for span in device)
    return [
        f"Round {number} has {found[number, name]} intervals of {name} on the device, not one."
        for number in rounds
        for name in ONCE_A_ROUND
        if found[number, name] != 1
    ]


def _misplaced(
    device: dict[tuple[int, str], Span], host: dict[tuple[int, str], Span], updates: dict[int, int]
) -> list[str]:
    said = []
    for (number, name), span in device.items():
        launched, execute = host.get((number, name)), device.get((number, "execute"))
        if launched is None or span.start_ns < launched.start_ns - TOLERANCE_NS:
            said.append(f"{name} of round {number} begins on the device before the host launches it.")
        # Tokens are copied out before the last kernels of sampling have run.
        if name != "sample" and span.end_ns > updates[number] + TOLERANCE_NS:
            said.append(f"{name} of round {number} ends on the device after its output was processed.")
        if name == "forward" and execute is not None:
            inside = execute.start_ns <= span.start_ns and span.end_ns <= execute.end_ns
            said += [] if inside else [f"The forward pass of round {number} lies outside its execution."]
    return said


def _overlaps(device: Sequence[Span]) -> list[str]:
    passes = sorted((span for span in device if span.component == "forward"), key=lambda span: span.start_ns)
    return [
        f"The forward passes of rounds {before.round} and {after.round} overlap on the device."
        for before, after in pairwise(passes)
        if after.start_ns < before.end_ns - TOLERANCE_NS
    ]


def _unmapped(clock: dict[str, Any]) -> list[str]:
    said = []
    if clock.get("num_lost", 0):
        said.append(f"{clock['num_lost']} intervals were lost.")
    if clock.get("num_anchors", 0) < 2:
        said.append("The device's clock was not anchored at the start and at the end.")
    elif abs(clock["drift_ppm"] or 0.0) > MAXIMUM_DRIFT_PPM:
        said.append(f"The device's clock drifts by {clock['drift_ppm']:.0f} ppm.")
    return said


def faults_of_run(path: Path) -> list[str]:
    """The faults of the first worker of a run that was recorded on a device."""
    connection = open_runs([path])
    try:
        spans = [
            Span(*row)
            for row in connection.execute(
                "SELECT round, component, clock, start_ns, end_ns FROM spans WHERE process_rank = 0"
            ).fetchall()
        ]
        updates = dict(connection.execute("SELECT round, update_start_ns FROM rounds").fetchall())
    finally:
        connection.close()
    return faults(spans, updates, RunDirectory(path).manifest.device_clocks.get("worker0", {}))
