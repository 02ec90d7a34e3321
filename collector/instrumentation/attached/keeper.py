"""The thread beside a recorded engine that begins and ends its runs. All work with the disk is here."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from radixflow.collector.instrumentation.attached import control
from radixflow.collector.instrumentation.attached.listener import AttachedListener
from radixflow.collector.instrumentation.attached.runs import AttachedRun, AttachedRuns
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.spans.component_times import EngineComponents
from radixflow.collector.instrumentation.spans.nvtx_ranges import NvtxRanges
from radixflow.schema.errors import RadixflowError
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.writing.segment_writer import SegmentWriter

POLL_SECONDS = 0.2
PATIENCE_SECONDS = 30.0
"""Seconds to wait at most for the last rounds of a run, and for its other writers to close."""
END_REASONS = {
    "max_size": "it has reached its size",
    "max_duration": "it has lasted its time",
    "stopped": "recording was stopped",
    "server_closed": "the server closed",
}
"""The ``end_reason`` of a manifest to the words in which a person is told."""


@dataclass
class _Recording:
    """A run that is being recorded."""

    run: AttachedRun
    writer: SegmentWriter
    recorder: RoundRecorder
    components: EngineComponents
    begun: float
    end_reason: str = ""


class RunKeeper:
    """Begins a run, ends it when it is time, and begins the next.

    Args:
        scan: The scheduler, an adapter's scan.
        settings: What to record, and how much of it.
        runs: Makes and closes the runs.
        describe: Facts of the engine for ``writers/engine.json``.
    """

    def __init__(
        self, scan: Any, settings: AttachSettings, runs: AttachedRuns, describe: Callable[[], dict[str, Any]]
    ) -> None:
        self._scan = scan
        self._settings = settings
        self._runs = runs
        self._describe = describe
        self._control = control.ControlFile(settings.control_file)
        self._current: _Recording | None = None
        self._ranges = NvtxRanges.attach()
        self._closers: list[threading.Thread] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="radixflow-runs", daemon=True)
        self.listener = AttachedListener(scan, self.finish)

    def start(self) -> None:
        """Begin the first run, unless recording starts stopped, and watch from now on."""
        self._control.forget()
        if self._settings.starts_stopped:
            self._control.tell(control.STOP)
            _say(f"not recording; {control.RECORD!r} in {self._settings.control_file} begins")
        else:
            self._begin()
            self._control.tell(control.RECORD if self._current is not None else control.STOP)
        self._thread.start()

    def finish(self) -> None:
        """End the present run and wait until every run is closed: the scheduler has shut down."""
        self._is_over.set()
        self._thread.join(PATIENCE_SECONDS)
        self._control.forget()  # a wish that came too late
        self._end("server_closed")
        deadline = time.monotonic() + PATIENCE_SECONDS
        for closer in self._closers:
            closer.join(max(0.0, deadline - time.monotonic()))

    def _watch(self) -> None:
        while not self._is_over.wait(POLL_SECONDS):
            try:
                self._look()
            except Exception as error:  # whatever it is, the engine must not feel it
                _say(f"recording stops: {type(error).__name__}: {error}")
                self._end("stopped")
                return

    def _look(self) -> None:
        word = self._control.new_word()
        if word == control.RECORD and self._current is None:
            self._begin()
            if self._current is None:
                self._control.tell(control.STOP)
        elif word == control.STOP and self._current is not None:
            self._end("stopped")
        elif word is not None and word not in control.WORDS:
            _say(f"{self._settings.control_file} says {word!r}; it can say {' or '.join(control.WORDS)}")
        reason = self._limit()
        if reason is not None and self._settings.rotate:
            self._end(reason, is_followed=True)
        elif reason is not None:
            self._end(reason)
        self._closers = [closer for closer in self._closers if closer.is_alive()]

    def _limit(self) -> str | None:
        """The limit that the present run has reached."""
        current, settings = self._current, self._settings
        if current is None:
            return None
        if settings.max_duration_s is not None and time.monotonic() - current.begun >= settings.max_duration_s:
            return "max_duration"
        if settings.max_size_bytes is not None:
            said = [status.get("bytes_written", 0) for status in RunDirectory(current.run.path).writers().values()]
            if sum(size for size in said if isinstance(size, int)) >= settings.max_size_bytes:
                return "max_size"
        return None

    def _begin(self) -> None:
        recording = self._new_recording()
        if recording is not None:
            self.listener.hand_over(recording.run.path, recording.recorder, recording.components)
        else:
            self.listener.hand_over()
        self._current = recording

    def _new_recording(self) -> _Recording | None:
        settings = self._settings
        try:
            run = self._runs.create()
        except (RadixflowError, OSError) as error:
            _say(f"not recording: {error}")
            return None
        writer = SegmentWriter(run.path, "engine")
        writer.describe(**self._describe())
        recorder = RoundRecorder(
            self._scan, writer, RecorderSettings(run.path, settings.probe, sample_rounds=settings.sample_rounds)
        )
        _say(f"recording to {run.path}")
        components = EngineComponents(writer, self._ranges)
        return _Recording(run, writer, recorder, components, time.monotonic())

    def _end(self, reason: str, is_followed: bool = False) -> None:
        ended = self._current
        if ended is None:
            return
        ended.end_reason = reason
        if is_followed:
            self._begin()
        else:
            self.listener.hand_over()
            self._current = None
        if self._current is None:
            self._control.tell(control.STOP)
        closer = threading.Thread(target=self._close, args=(ended,), name="radixflow-close", daemon=True)
        self._closers.append(closer)
        closer.start()

    def _close(self, ended: _Recording) -> None:
        """Close a run once nothing more can come: the last rounds of the engine, then the spans of its workers."""
        path = ended.run.path
        self._wait_for(lambda: self.listener.has_let_go(path))
        ended.components.closed()  # before the recorder, which closes the writer of both
        ended.recorder.closed()
        self._wait_for(lambda: all(status.get("closed") for status in RunDirectory(path).writers().values()))
        try:
            state = self._runs.close(ended.run, ended.end_reason)
            _say(f"the run {path} is {state}: {END_REASONS[ended.end_reason]}")
            if self._settings.rotate:
                self._runs.remove_oldest()
        except (RadixflowError, OSError) as error:
            _say(f"the run {path} could not be closed: {error}")

    def _wait_for(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so() and time.monotonic() < deadline:
            if self._is_over.is_set():  # the engine is shutting down: what is not there now does not come any more
                deadline = min(deadline, time.monotonic() + 2 * POLL_SECONDS)
            time.sleep(POLL_SECONDS / 4)


def _say(sentence: str) -> None:
    with suppress(OSError, ValueError):  # stderr may be closed
        print(f"radixflow: {sentence}.", file=sys.stderr, flush=True)
