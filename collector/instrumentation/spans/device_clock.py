"""Intervals on a device, read from timing events without waiting for it, and mapped to ``time.monotonic_ns``.

A timing event says how long after another one it happened, in milliseconds of single precision. So every event is
measured from an *anchor*, an event whose moment on the host clock is known: it is recorded on a stream of its own, on
which nothing waits, and the host looks until it has happened. The moment lies between the last look that found it
pending and the first that found it done; the middle is taken, half the distance is its uncertainty. Anchors are
renewed, since clocks drift, and since single precision resolves 0.06 us for a second, but 60 us for a quarter of an
hour.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

RENEW_NS = 1_000_000_000
"""Age in nanoseconds at which a new anchor is taken."""
LOOK_NS = 200_000
"""Nanoseconds to wait at most for a new anchor; if the device is busy for longer, the old anchor is kept."""
FIRST_LOOK_NS = 1_000_000_000
"""Nanoseconds to wait at most for the first and for the last anchor."""
LAST_WAIT_SECONDS = 5.0
"""Seconds to wait at most for the device's remaining work when the recording ends."""
TRIES = 8
"""How many times the first and the last anchor are tried; the one with the least uncertainty is used."""
MAXIMUM_PENDING = 100_000
"""Most intervals whose end the device may not have reached yet; beyond it they are given up and counted."""


class TimingEvent(Protocol):
    """The methods of ``torch.cuda.Event(enable_timing=True)`` that this module calls."""

    def record(self, stream: Any = None) -> None:
        """Queue the event on a stream (the current one if None); it happens when all work before it is done."""

    def query(self) -> bool:
        """Return whether the event has happened, without waiting for it."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds from this event to another one; both must have happened."""


class Anchor(NamedTuple):
    """An event with its moment on the host clock, and half the width of the window in which it lies (ns)."""

    event: Any
    host_ns: int
    uncertainty_ns: int


@dataclass
class ClockReport:
    """How well times of the device's clock could be mapped to the host's clock.

    Attributes:
        num_anchors: Anchors taken.
        span_ns: Host time from the first to the last anchor.
        drift_ns: Device time less host time between them: negative where the device's clock is slow.
        largest_step_ns: Largest change of the mapping from one anchor to the next, in absolute value.
        largest_uncertainty_ns: Largest uncertainty of an anchor.
        num_lost: Intervals that were given up: never finished, or too many waited.
    """

    num_anchors: int = 0
    span_ns: int = 0
    drift_ns: int = 0
    largest_step_ns: int = 0
    largest_uncertainty_ns: int = 0
    num_lost: int = 0

    @property
    def drift_ppm(self) -> float | None:
        """Drift in millionths, None while there is one anchor only."""
        return None if not self.span_ns else self.drift_ns / self.span_ns * 1e6


class DeviceClock:
    """Maps the moments of events to the host clock.

    Args:
        new_event: Makes a timing event.
        idle_stream: Stream on which nothing else is ever queued.
        now: Host clock, monotonic nanoseconds.
    """

    def __init__(
        self, new_event: Callable[[], TimingEvent], idle_stream: Any = None, now: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._new_event = new_event
        self._idle_stream = idle_stream
        self._now = now
        self.counts = ClockReport()
        anchor = self._best_of_some()
        if anchor is None:
            raise RuntimeError("the device does not answer")
        self.anchor = anchor
        self._count(anchor)

    def renew(self) -> bool:
        """Take a new anchor if the device answers quickly, and return whether it did."""
        return self._replace(self._take(LOOK_NS))

    def renew_at_end(self) -> bool:
        """Take the last anchor, from which the drift between both clocks is computed."""
        return self._replace(self._best_of_some())

    def is_old(self) -> bool:
        """Whether the anchor should be renewed."""
        return self._now() - self.anchor.host_ns > RENEW_NS

    def _best_of_some(self) -> Anchor | None:
        best = None
        for _ in range(TRIES):
            anchor = self._take(FIRST_LOOK_NS)
            if anchor is None:
                break  # it will not answer the next time either
            if best is None or anchor.uncertainty_ns < best.uncertainty_ns:
                best = anchor
        return best

    def _take(self, patience_ns: int) -> Anchor | None:
        event = self._new_event()
        before = looked = started = self._now()
        event.record(self._idle_stream)
        while not event.query():
            before, looked = looked, self._now()
            if looked - started > patience_ns:
                return None
        after = self._now()
        return Anchor(event, (before + after) // 2, (after - before + 1) // 2)

    def _replace(self, anchor: Anchor | None) -> bool:
        if anchor is None:
            return False
        device_ns = elapsed_ns(self.anchor.event, anchor.event)
        host_ns = anchor.host_ns - self.anchor.host_ns
        self.counts.span_ns += host_ns
        self.counts.drift_ns += device_ns - host_ns
        self.counts.largest_step_ns = max(self.counts.largest_step_ns, abs(device_ns - host_ns))
        self.anchor = anchor
        self._count(anchor)
        return True

    def _count(self, anchor: Anchor) -> None:
        self.counts.num_anchors += 1
        self.counts.largest_uncertainty_ns = max(self.counts.largest_uncertainty_ns, anchor.uncertainty_ns)


def elapsed_ns(start: TimingEvent, end: TimingEvent) -> int:
    """Nanoseconds from one event to another."""
    return round(start.elapsed_time(end) * 1e6)


class DeviceSpans:
    """Intervals between pairs of events, which are read once the device has reached the second one.

    Args:
        clock: Maps their moments.
        new_event: Makes a timing event; used ones are used again.
    """

    def __init__(self, clock: DeviceClock, new_event: Callable[[], TimingEvent]) -> None:
        self._clock = clock
        self._new_event = new_event
        self._free: list[TimingEvent] = []
        self._pending: deque[tuple[int, str, Any, Any, Anchor]] = deque()

    def start(self) -> Any:
        """Record an event on the current stream and return it: an interval begins there."""
        event = self._free.pop() if self._free else self._new_event()
        event.record()
        return event

    def end(self, round_number: int, component: str, start: Any) -> None:
        """Record the end, on the current stream, of the interval that began with the event ``start``."""
        if len(self._pending) >= MAXIMUM_PENDING:
            self._clock.counts.num_lost += 1
            return
        self._pending.append((round_number, component, start, self.start(), self._clock.anchor))

    def finished(self) -> list[tuple[int, str, int, int]]:
        """Return round, component, start and end (host clock, ns) of the intervals ended by now, without waiting."""
        intervals = []
        while self._pending and self._pending[0][3].query():
            number, component, start, end, anchor = self._pending.popleft()
            start_ns, end_ns = (anchor.host_ns + elapsed_ns(anchor.event, event) for event in (start, end))
            intervals.append((number, component, start_ns, max(start_ns, end_ns)))
            self._free += (start, end)
        if self._clock.is_old():
            self._clock.renew()
        return intervals

    def close(self) -> list[tuple[int, str, int, int]]:
        """Return the remaining intervals, after waiting for the device for at most ``LAST_WAIT_SECONDS``."""
        give_up_at = time.monotonic() + LAST_WAIT_SECONDS
        while self._pending and not self._pending[-1][3].query() and time.monotonic() < give_up_at:
            time.sleep(0.001)
        intervals = self.finished()
        self._clock.counts.num_lost += len(self._pending)
        self._pending.clear()
        self._clock.renew_at_end()
        return intervals

    def report(self) -> dict[str, Any]:
        """How well the clock was mapped, for the manifest."""
        counts = self._clock.counts
        return vars(counts) | {"drift_ppm": counts.drift_ppm}


def cuda_spans() -> DeviceSpans:
    """Intervals on the current CUDA device.

    Raises:
        RuntimeError: The device does not answer.
    """
    import torch

    def new_event() -> Any:
        return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]

    idle_stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    return DeviceSpans(DeviceClock(new_event, idle_stream), new_event)
