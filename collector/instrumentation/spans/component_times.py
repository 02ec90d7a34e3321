"""The intervals in which the parts of a round worked: on the host clock, as NVTX ranges, and on the device's clock."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from radixflow.collector.instrumentation.guard import never_raises
from radixflow.collector.instrumentation.notes.round_attribute import ROUND_ATTRIBUTE
from radixflow.collector.instrumentation.spans.device_clock import DeviceSpans
from radixflow.collector.instrumentation.spans.nvtx_ranges import NvtxRanges
from radixflow.collector.vllm_adapters.scan import ComponentListener
from radixflow.schema.writing.segment_writer import SegmentWriter

ENGINE_RANK = -1
"""Rank of the scheduler's process in table ``spans``."""
MAXIMUM_INTERVALS = 512
"""Most intervals kept of one step: a scan that looks up thousands of requests would fill the run with them."""

MOST_WAITING = 20_000
"""Most intervals that may wait in memory, since a writer's thread that has stopped no longer takes any."""

Interval = tuple[int, str, int, str, int, int]
"""A row of table ``spans``."""


class EngineComponents(ComponentListener):
    """Times the parts of the scheduler's process.

    Selection and update are columns of ``rounds`` and not repeated in ``spans``. The number of a round is known when
    schedule() has ended; until then its intervals wait.

    Args:
        writer: Where the rows of ``spans`` go.
        ranges: NVTX ranges, None where nobody would see them.
    """

    def __init__(self, writer: SegmentWriter, ranges: NvtxRanges | None = None) -> None:
        self.is_broken = False
        self._writer = writer
        self._ranges = ranges
        self.sees_selection = ranges is not None
        self._round = 0
        self._open: list[tuple[str, int, int | None]] = []
        self._of_step: list[tuple[str, int, int]] = []
        self._num_left_out = 0
        self._rows: deque[Interval] = deque()
        writer.pull("spans", self._take)
        self._dispatch_start_ns: int | None = None
        if ranges is not None:
            ranges.mark_clock(is_due=True)

    @never_raises
    def begin(self, component: str, output: Any = None) -> None:
        if self._dispatch_start_ns is not None:
            self._leave_dispatch()
        number = None if output is None else getattr(output, ROUND_ATTRIBUTE, 0)
        if self._ranges is not None:
            self._ranges.push(component, self._round + 1 if number is None else number)
        self._open.append((component, time.monotonic_ns(), number))

    @never_raises
    def end(self) -> None:
        end_ns = time.monotonic_ns()
        if self._ranges is not None:
            self._ranges.pop()
        component, start_ns, number = self._open.pop()
        if number is not None:
            self._updated(number)
        elif component != "selection":
            self._of_step.append((component, start_ns, end_ns))

    def _updated(self, number: int) -> None:
        if self._ranges is not None:
            self._ranges.end_round(number)

    @never_raises
    def decided(self, output: Any) -> None:
        intervals, self._of_step = self._of_step, []
        number = getattr(output, ROUND_ATTRIBUTE, 0)
        if not number:
            self._round += bool(output.num_scheduled_tokens)  # a round that is not kept; the recorder counts it, too
            return
        self._round = number
        if len(intervals) > MAXIMUM_INTERVALS:
            self._num_left_out += len(intervals) - MAXIMUM_INTERVALS
            self._writer.describe(num_intervals_left_out=self._num_left_out)
            del intervals[MAXIMUM_INTERVALS:]
        self._rows.extend([(number, component, ENGINE_RANK, "host", start, end) for component, start, end in intervals])
        if len(self._rows) > MOST_WAITING:
            self._writer.append("spans", self._take())  # which counts what it does not take
        if self._ranges is not None:
            self._ranges.mark_clock()
            self._ranges.start_round(number)
            self._ranges.push("dispatch", number)
        self._dispatch_start_ns = time.monotonic_ns()

    @never_raises
    def handed_over(self, output: Any) -> None:
        start_ns = self._dispatch_start_ns
        if start_ns is None or getattr(output, ROUND_ATTRIBUTE, 0) != self._round:
            return  # the executor of a round whose grammar has to wait for another one is not seen
        end_ns = time.monotonic_ns()
        self._leave_dispatch()
        self._rows.append((self._round, "dispatch", ENGINE_RANK, "host", start_ns, end_ns))

    def _leave_dispatch(self) -> None:
        self._dispatch_start_ns = None
        if self._ranges is not None:
            self._ranges.pop()

    def _take(self) -> list[Interval]:
        """The rows so far, asked for in the writer's thread."""
        return [self._rows.popleft() for _ in range(len(self._rows))]

    @never_raises
    def closed(self) -> None:
        self._close_ranges()

    def _close_ranges(self) -> None:
        """Leave no range open, whatever has happened."""
        if self._ranges is None:
            return
        if self._dispatch_start_ns is not None:
            self._leave_dispatch()
        for _ in self._open:
            self._ranges.pop()
        self._open.clear()
        self._ranges.end_all_rounds()
        self._ranges.mark_clock(is_due=True)

    def let_go(self, sentence: str) -> None:
        """Stop recording spans after a failure and keep those recorded; rounds go on being recorded."""
        self._close_ranges()
        self._writer.faults.append(sentence)


class WorkerComponents:
    """Times the parts of a worker. Nothing is timed outside a round: not a warm-up, not the capture of a graph.

    Args:
        writer: Where the rows of ``spans`` go.
        rank: Rank of this worker.
        ranges: NVTX ranges, None where nobody would see them.
        device: Intervals on the device's clock, None where there is no such clock.
    """

    def __init__(
        self, writer: SegmentWriter, rank: int, ranges: NvtxRanges | None = None, device: DeviceSpans | None = None
    ) -> None:
        self.is_broken = False
        self._writer = writer
        self._rank = rank
        self._ranges = ranges
        self._device = device
        self._round = 0
        self._open: list[tuple[str, int, Any]] = []
        if ranges is not None:
            ranges.mark_clock(is_due=True)

    def use_device(self, device: DeviceSpans) -> None:
        """Time on the clock of a device as well, from now on."""
        self._device = device

    @property
    def is_in_round(self) -> bool:
        """Whether this worker executes a round at the moment."""
        return self._round != 0

    @never_raises
    def start_round(self, number: int) -> None:
        """The worker has got a round, or a step without work (0)."""
        self._round = number
        if self._device is not None and number:
            self._append("device", self._device.finished())
        if self._ranges is not None:
            self._ranges.mark_clock()

    @never_raises
    def begin(self, component: str) -> None:
        """A component begins to work on the round."""
        if not self._round:
            return
        if self._ranges is not None:
            self._ranges.push(component, self._round)
        event = None if self._device is None else self._device.start()
        self._open.append((component, time.monotonic_ns(), event))

    @never_raises
    def end(self) -> None:
        """The component that began last has ended, normally or with an exception."""
        if not self._open:
            return
        end_ns = time.monotonic_ns()
        component, start_ns, event = self._open.pop()
        if self._device is not None:
            self._device.end(self._round, component, event)
        if self._ranges is not None:
            self._ranges.pop()
        self._writer.append("spans", (self._round, component, self._rank, "host", start_ns, end_ns))

    def _append(self, clock: str, intervals: list[tuple[int, str, int, int]]) -> None:
        if intervals:
            self._writer.append(
                "spans", [(number, name, self._rank, clock, start, end) for number, name, start, end in intervals]
            )

    @never_raises
    def close(self) -> None:
        """Write what is pending; the device may be waited for now."""
        if self._device is not None:
            self._append("device", self._device.close())
            self._writer.describe(device_clock=self._device.report())
        self._close_ranges()
        self._writer.close()

    def _close_ranges(self) -> None:
        if self._ranges is not None:
            for _ in self._open:
                self._ranges.pop()
            self._ranges.mark_clock(is_due=True)
        self._open.clear()

    def let_go(self, sentence: str) -> None:
        """Stop recording spans after a failure and keep those recorded."""
        self._close_ranges()
        self._writer.close(timeout=0, fault=sentence)
