"""The scheduler's listener on a recorded server: it stays while one run ends and the next begins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from radixflow.collector.instrumentation.guard import never_raises
from radixflow.collector.instrumentation.notes.round_attribute import ROUND_ATTRIBUTE
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.vllm_adapters.scan import ComponentListener, ScanListener

RUN_ATTRIBUTE = "radixflow_run"
"""Name under which the folder of the run that a round belongs to travels on vLLM's SchedulerOutput to the workers."""
WITHIN_A_STEP = ("visited", "skipped", "looked_up", "split", "allocated")
"""Methods that are called for every visit. For speed, the scan calls those of the present run's recorder directly."""


@dataclass(slots=True)
class _PresentRequest:
    """What a recorder that takes over must know of a request that is in the scheduler."""

    request: Any
    registered_ns: int
    first_selected_ns: int | None = None


class AttachedListener(ScanListener):
    """Passes every event on to the recorder of the present run, if there is one.

    Another thread says who is to record (:meth:`hand_over`); the change is made between two steps, by whoever comes
    first: that thread, if the engine is idle, else the scheduler's. The lock is held for no more than that.

    Args:
        scan: The scheduler, an adapter's scan.
        on_closed: Called when the scheduler shuts down, after the last round.
    """

    def __init__(self, scan: Any, on_closed: Callable[[], None]) -> None:
        self.is_broken = False
        self._scan = scan
        self._on_closed = on_closed
        self._lock = threading.Lock()
        self._is_in_step = False
        self._outputs_in_flight: set[int] = set()
        self._present: dict[str, _PresentRequest] = {}
        self._path: Path | None = None
        self._recorder: RoundRecorder | None = None
        self._ending: dict[str, RoundRecorder] = {}
        self._wanted: tuple[Path | None, RoundRecorder | None, ComponentListener | None] | None = None

    # -- asked by the thread that makes the runs --------------------------------------------------------------------

    def hand_over(
        self,
        path: Path | None = None,
        recorder: RoundRecorder | None = None,
        components: ComponentListener | None = None,
    ) -> None:
        """Let the rounds from now on, and their parts, go to the recorders of a run, or to nobody."""
        with self._lock:
            self._wanted = (path, recorder, components)
            if not self._is_in_step:
                self._change()

    def has_let_go(self, path: Path) -> bool:
        """Whether a run will receive nothing more.

        That is so once it has been replaced and the output of its last round was processed.
        """
        with self._lock:
            if self._path == path or (self._wanted is not None and self._wanted[0] == path):
                return False
            recorder = self._ending.get(str(path))
            if recorder is not None and recorder.has_open_rounds and not recorder.is_broken:
                return False
            self._ending.pop(str(path), None)
            return True

    # -- told by the scheduler --------------------------------------------------------------------------------------

    @never_raises
    def registered(self, request: Any) -> None:
        with self._lock:
            if request.request_id not in self._present:
                self._present[request.request_id] = _PresentRequest(request, self._scan.clock())
            if self._recorder is not None:
                self._recorder.registered(request)

    @never_raises
    def finished(self, request: Any) -> None:
        with self._lock:
            self._present.pop(request.request_id, None)
            if self._recorder is not None:
                self._recorder.finished(request)

    @never_raises
    def preempted(self, request: Any) -> None:
        with self._lock:  # a reset of the prefix cache preempts outside of a step
            if self._recorder is not None:
                self._recorder.preempted(request)

    @never_raises
    def reset_started(self) -> None:
        with self._lock:
            self._is_in_step = True  # what a reset preempts belongs to the run in which it began
        if self._recorder is not None:
            self._recorder.reset_started()

    @never_raises
    def reset_ended(self, succeeded: bool) -> None:
        if self._recorder is not None:
            self._recorder.reset_ended(succeeded)
        with self._lock:
            self._is_in_step = False

    @never_raises
    def released(self, request: Any, reason: str) -> None:
        if self._recorder is not None:
            self._recorder.released(request, reason)

    @never_raises
    def step_started(self) -> None:
        with self._lock:
            self._is_in_step = True
            if self._wanted is not None:
                self._change()
        if self._recorder is not None:
            self._recorder.step_started()

    @never_raises
    def step_ended(self, output: Any) -> None:
        if self._recorder is not None:
            self._recorder.step_ended(output)
            if getattr(output, ROUND_ATTRIBUTE, 0):
                setattr(output, RUN_ATTRIBUTE, str(self._path))
        if output.num_scheduled_tokens:
            self._outputs_in_flight.add(id(output))
        for new in output.scheduled_new_reqs:
            present = self._present.get(new.req_id)
            if present is not None and present.first_selected_ns is None:
                present.first_selected_ns = self._scan.step_started_ns
        with self._lock:
            self._is_in_step = False

    @never_raises
    def update_started(self, output: Any) -> None:
        recorder = self._recorder_of(output)
        if recorder is not None:
            recorder.update_started(output)

    @never_raises
    def update_ended(self, output: Any) -> None:
        self._outputs_in_flight.discard(id(output))
        recorder = self._recorder_of(output)
        if recorder is not None:
            recorder.update_ended(output)
        present = self._recorder
        if present is not None and present is not recorder:  # a round of another run, or one that is not kept
            present.other_update_ended(output)

    @never_raises
    def closed(self) -> None:
        with self._lock:
            self._is_in_step = False
        self._on_closed()

    def let_go(self, sentence: str) -> None:
        """Stop recording for good after a failure. What was recorded is kept.

        Args:
            sentence: Why, for the run and for the person.
        """
        if self._recorder is not None:
            self._recorder.is_broken = True
            self._recorder.let_go(sentence)

    def _recorder_of(self, output: Any) -> RoundRecorder | None:
        path = getattr(output, RUN_ATTRIBUTE, None)
        if path is None:
            return None
        with self._lock:
            return self._recorder if path == str(self._path) else self._ending.get(path)

    def _change(self) -> None:
        """Make the change that was asked for; the lock is held, and no step is going on."""
        assert self._wanted is not None
        if self._recorder is not None:
            self._recorder.end_requests()
            self._ending[str(self._path)] = self._recorder
        (self._path, recorder, self._scan.components), self._wanted = self._wanted, None
        self._recorder = recorder
        if recorder is not None:
            recorder.outputs_in_flight |= self._outputs_in_flight
            for present in self._present.values():
                recorder.adopt(present.request, present.registered_ns, present.first_selected_ns)
        for name in WITHIN_A_STEP:
            if recorder is not None:
                setattr(self, name, getattr(recorder, name))
            else:
                vars(self).pop(name, None)
