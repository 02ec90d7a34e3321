"""The mapping of a device's clock to ours, by value: a device whose clock is known exactly, drift included.

What CUDA really answers is tested in tests/gpu.
"""

import random
from typing import Any

import numpy as np
import pytest

from radixflow.collector.instrumentation.spans import device_clock
from radixflow.collector.instrumentation.spans.device_clock import RENEW_NS, DeviceClock, DeviceSpans

MILLISECOND = 1_000_000
HOUR = 3_600_000_000_000


class Device:
    """A device that works through one queue, with a clock that starts anywhere and runs fast by ``ppm`` millionths."""

    def __init__(self, ppm: float = 0.0, seed: int = 0) -> None:
        self.now_ns = 1_000_000_000_000
        self.busy_until_ns = 0
        self.rate = 1 + ppm / 1e6
        self.is_hung = False
        self._rng = random.Random(seed)

    def clock(self) -> int:
        self.now_ns += self._rng.randrange(40, 120)  # reading a clock takes time
        return self.now_ns

    def event(self) -> "Event":
        return Event(self)

    def work(self, duration_ns: int) -> None:
        self.busy_until_ns = max(self.busy_until_ns, self.now_ns) + duration_ns


class Event:
    """A timing event of that device; the idle stream is anything but None."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.moment_ns: int | None = None

    def record(self, stream: Any = None) -> None:
        device = self.device
        delay_ns = 4_000 if stream is not None else 0
        self.moment_ns = max(device.now_ns + delay_ns, device.busy_until_ns if stream is None else 0)

    def query(self) -> bool:
        assert self.moment_ns is not None
        self.device.now_ns += 700
        return not self.device.is_hung and self.moment_ns <= self.device.now_ns

    def elapsed_time(self, end_event: "Event") -> float:
        assert self.moment_ns is not None and end_event.moment_ns is not None
        elapsed = (end_event.moment_ns - self.moment_ns) * self.device.rate / 1e6
        return float(np.float32(elapsed))  # CUDA answers in single precision


def spans_on(device: Device) -> DeviceSpans:
    return DeviceSpans(DeviceClock(device.event, "idle", device.clock), device.event)


def test_an_interval_is_mapped_to_the_host_clock() -> None:
    device = Device()
    spans = spans_on(device)
    start = spans.start()
    true_start_ns = device.now_ns
    device.work(5 * MILLISECOND)
    spans.end(7, "forward", start)
    assert spans.finished() == [], "the device has not got there, and nobody waits for it"
    device.now_ns += 6 * MILLISECOND
    ((number, component, start_ns, end_ns),) = spans.finished()
    assert (number, component) == (7, "forward")
    assert abs(start_ns - true_start_ns) < 2_000
    assert abs(end_ns - start_ns - 5 * MILLISECOND) < 500  # single precision


@pytest.mark.parametrize("ppm", [0.0, 40.0, -40.0])
def test_an_hour_of_drift_is_followed_and_reported(ppm: float) -> None:
    device = Device(ppm)
    spans = spans_on(device)
    worst_ns, began_ns = 0, device.now_ns
    while device.now_ns - began_ns < HOUR // 20:
        start, true_start_ns = spans.start(), device.now_ns
        device.work(3 * MILLISECOND)
        spans.end(1, "forward", start)
        device.now_ns += 100 * MILLISECOND
        worst_ns = max([worst_ns, *(abs(found[2] - true_start_ns) for found in spans.finished())])
    spans.close()
    report = spans.report()
    assert worst_ns < 45_000  # a second of 40 ppm, the age of an anchor, and its uncertainty
    assert report["drift_ppm"] == pytest.approx(ppm, abs=0.1)
    assert report["num_anchors"] > 100
    assert report["largest_step_ns"] < 50_000
    assert report["num_lost"] == 0


def test_without_renewal_the_same_drift_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arm that fails: with one anchor alone, three minutes of 40 ppm are 7 ms."""
    monkeypatch.setattr(DeviceClock, "is_old", lambda self: False)
    device = Device(40.0)
    spans = spans_on(device)
    device.now_ns += HOUR // 20
    start, true_start_ns = spans.start(), device.now_ns
    spans.end(1, "forward", start)
    ((_, _, start_ns, _),) = spans.finished()
    assert start_ns - true_start_ns > 7 * MILLISECOND


def test_intervals_come_in_the_order_in_which_they_ended_and_overlap_is_kept() -> None:
    device = Device()
    spans = spans_on(device)
    outer = spans.start()
    inner = spans.start()
    device.work(MILLISECOND)
    spans.end(1, "forward", inner)
    device.work(MILLISECOND)
    spans.end(1, "execute", outer)
    device.now_ns += 3 * MILLISECOND
    forward, execute = spans.finished()
    assert (forward[1], execute[1]) == ("forward", "execute")
    assert execute[2] <= forward[2] <= forward[3] <= execute[3]


def test_a_busy_device_keeps_its_old_anchor() -> None:
    device = Device()
    clock = DeviceClock(device.event, "idle", device.clock)
    anchor = clock.anchor
    device.now_ns += RENEW_NS + 1
    assert clock.is_old()
    device.is_hung = True
    assert not clock.renew()
    assert clock.anchor is anchor
    device.is_hung = False
    assert clock.renew()
    assert clock.anchor is not anchor


def test_a_device_that_never_answers_is_refused_at_the_start_and_given_up_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device_clock, "FIRST_LOOK_NS", MILLISECOND)
    monkeypatch.setattr(device_clock, "LAST_WAIT_SECONDS", 0.01)
    device = Device()
    spans = spans_on(device)
    spans.end(1, "forward", spans.start())
    device.is_hung = True
    assert spans.close() == []
    assert spans.report()["num_lost"] == 1
    with pytest.raises(RuntimeError, match="does not answer"):
        spans_on(device)


def test_the_uncertainty_of_an_anchor_holds_its_true_moment() -> None:
    for seed in range(50):
        device = Device(seed=seed)
        anchor = DeviceClock(device.event, "idle", device.clock).anchor
        assert abs(anchor.host_ns - anchor.event.moment_ns) <= anchor.uncertainty_ns + 1
        assert anchor.uncertainty_ns < 3_000


def test_events_are_used_again() -> None:
    device = Device()
    made = []

    def counted() -> Event:
        made.append(device.event())
        return made[-1]

    spans = DeviceSpans(DeviceClock(device.event, "idle", device.clock), counted)
    for _ in range(100):
        spans.end(1, "forward", spans.start())
        device.now_ns += MILLISECOND
        assert len(spans.finished()) == 1
    assert len(made) == 2
