"""vLLM worker classes that write their own spans: when this process worked on which part of which round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.collector.instrumentation.attached.spans import SpansByRun
from radixflow.collector.instrumentation.guard import give_up
from radixflow.collector.instrumentation.notes.round_attribute import ROUND_ATTRIBUTE
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.spans.component_times import WorkerComponents
from radixflow.collector.instrumentation.spans.device_clock import cuda_spans
from radixflow.collector.instrumentation.spans.nvtx_ranges import NvtxRanges
from radixflow.collector.instrumentation.spans.runner_hooks import RunnerHooks
from radixflow.schema.writing.segment_writer import SegmentWriter

if TYPE_CHECKING:
    RecordedCPUWorker: Any
    RecordedGPUWorker: Any


class RecordsSpans:
    """Mixin to put before a vLLM worker class. It records nothing unless its settings name a run directory."""

    _components: WorkerComponents | None = None
    _hooks: RunnerHooks | None = None
    _spans_by_run: SpansByRun | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        settings = RecorderSettings.from_config(self.vllm_config)  # type: ignore[attr-defined]
        if settings is not None and settings.records("spans"):
            self.record_spans(settings)
        elif AttachSettings.from_config(self.vllm_config) is not None:  # type: ignore[attr-defined]
            self._spans_by_run = SpansByRun(lambda run: self._components_for(RecorderSettings(run)))

    def record_spans(self, settings: RecorderSettings) -> None:
        """Record from the next round on, to the run of these settings."""
        self._components = self._components_for(settings)

    def _components_for(self, settings: RecorderSettings) -> WorkerComponents:
        rank: int = self.rank  # type: ignore[attr-defined]
        writer = SegmentWriter(settings.run_directory, f"worker{rank}")
        return WorkerComponents(writer, rank, NvtxRanges.attach() if settings.nvtx else None)

    def stop_recording_spans(self) -> None:
        """Write what is pending and record no more."""
        components, self._components = self._components, None
        self._remove_hooks()
        if self._spans_by_run is not None:
            self._spans_by_run.close()
        elif components is not None:
            components.close()

    def _remove_hooks(self) -> None:
        hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.remove()

    def _follow_run(self, runs: SpansByRun, scheduler_output: Any) -> None:
        """Of a server that is recorded run by run, write to the run of this round, if it is recorded."""
        components = runs.of_round(scheduler_output)
        if components is not None and components is not self._components:
            self._remove_hooks()
            self._components = components

    def execute_model(self, scheduler_output: Any, *args: Any, **kwargs: Any) -> Any:
        if self._spans_by_run is not None:
            self._follow_run(self._spans_by_run, scheduler_output)
        components = self._components
        if components is None:
            return super().execute_model(scheduler_output, *args, **kwargs)  # type: ignore[misc]
        if self._hooks is None and not components.is_broken:
            self._hook_runner(components)
        components.start_round(getattr(scheduler_output, ROUND_ATTRIBUTE, 0))
        components.begin("execute")
        try:
            return super().execute_model(scheduler_output, *args, **kwargs)  # type: ignore[misc]
        finally:
            if self._hooks is not None:
                self._hooks.end_forward()
            components.end()

    def sample_tokens(self, *args: Any, **kwargs: Any) -> Any:
        components = self._components
        if components is None:
            return super().sample_tokens(*args, **kwargs)  # type: ignore[misc]
        components.begin("sample")
        try:
            return super().sample_tokens(*args, **kwargs)  # type: ignore[misc]
        finally:
            components.end()

    def _hook_runner(self, components: WorkerComponents) -> None:
        """At the first round: the runner has its model, its caches and its graphs by now."""
        try:
            if getattr(getattr(self, "device", None), "type", None) == "cuda":
                components.use_device(cuda_spans())
            self._hooks = RunnerHooks(self.model_runner, components)  # type: ignore[attr-defined]
        except Exception as error:
            give_up(components, "hook_runner", error)

    def shutdown(self, *args: Any, **kwargs: Any) -> Any:
        self.stop_recording_spans()
        return super().shutdown(*args, **kwargs)  # type: ignore[misc]


def __getattr__(name: str) -> Any:
    """Make the class for a platform when it is asked for: importing the other one's worker may fail."""
    if name == "RecordedCPUWorker":
        from vllm.v1.worker.cpu_worker import CPUWorker as Native
    elif name == "RecordedGPUWorker":
        from vllm.v1.worker.gpu_worker import Worker as Native
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = type(name, (RecordsSpans, Native), {"__module__": __name__})
    globals()[name] = made
    return made
