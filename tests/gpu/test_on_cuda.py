"""On a CUDA device: the mapping of its clock against a synchronised host, and a recording held against the wall."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from radixflow.collector.instrumentation.spans.device_clock import cuda_spans
from tests.gpu.record_on_cuda import main

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="this machine has no CUDA device that torch can use"),
]


def sleep_kernel(duration_ms: float) -> Callable[[], None]:
    """A kernel that keeps the device busy for about this long."""
    cycles = int(duration_ms * 1e6)
    return lambda: torch.cuda._sleep(cycles)


def test_intervals_agree_with_a_synchronised_host() -> None:
    spans = cuda_spans()
    work = sleep_kernel(5)
    work()
    torch.cuda.synchronize()
    for number in range(1, 21):
        before_ns = time.monotonic_ns()
        start = spans.start()
        work()
        spans.end(number, "forward", start)
        torch.cuda.synchronize()
        after_ns = time.monotonic_ns()
        ((_, _, start_ns, end_ns),) = spans.finished()
        assert before_ns - 20_000 <= start_ns < end_ns <= after_ns + 20_000
        assert end_ns - start_ns == pytest.approx(after_ns - before_ns, rel=0.1)


def test_reading_waits_for_nothing() -> None:
    spans = cuda_spans()
    start = spans.start()
    sleep_kernel(200)()
    spans.end(1, "forward", start)
    started_ns = time.monotonic_ns()
    assert spans.finished() == []
    assert time.monotonic_ns() - started_ns < 20_000_000
    assert len(spans.close()) == 1


def test_anchors_are_certain_and_the_drift_is_small() -> None:
    spans = cuda_spans()
    for number in range(1, 40):
        spans.end(number, "forward", spans.start())
        time.sleep(0.1)
        spans.finished()
    spans.close()
    report: dict[str, Any] = spans.report()
    assert report["num_anchors"] >= 4
    assert report["largest_uncertainty_ns"] < 100_000
    assert abs(report["drift_ppm"]) < 200
    assert report["num_lost"] == 0


@pytest.mark.timeout(330)
def test_a_recording_on_the_device_has_nothing_wrong(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--output", str(tmp_path)]) == 0, capfd.readouterr()
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.parquet")) < 2_000_000  # small enough for git
