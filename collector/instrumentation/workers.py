"""vLLM worker classes that write their own spans: when this process executed which round."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from radixflow.collector.instrumentation.guard import never_raises
from radixflow.collector.instrumentation.round_recorder import ROUND_ATTRIBUTE
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.schema.table_writer import SegmentWriter

if TYPE_CHECKING:
    RecordedCPUWorker: Any
    RecordedGPUWorker: Any


class SpanRecorder:
    """Writes the spans of one worker process."""

    def __init__(self, settings: RecorderSettings, rank: int) -> None:
        self.is_broken = False
        self._rank = rank
        self._writer = SegmentWriter(settings.run_directory, f"worker{rank}")

    @never_raises
    def add(self, round_number: int, component: str, start_ns: int, end_ns: int) -> None:
        """Write one host span of a round; nothing for a step without work."""
        if round_number:
            self._writer.append("spans", (round_number, component, self._rank, "host", start_ns, end_ns))

    @never_raises
    def close(self) -> None:
        """Write what is pending."""
        self._writer.close()

    def let_go(self, sentence: str) -> None:
        """Keep what was recorded and stop."""
        self._writer.close(timeout=0, fault=sentence)


class RecordsSpans:
    """Mixin before a vLLM worker class."""

    _spans: SpanRecorder | None = None
    _round = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        settings = RecorderSettings.from_config(self.vllm_config)  # type: ignore[attr-defined]
        if settings is not None:
            self._spans = SpanRecorder(settings, self.rank)  # type: ignore[attr-defined]

    def execute_model(self, scheduler_output: Any, *args: Any, **kwargs: Any) -> Any:
        self._round = getattr(scheduler_output, ROUND_ATTRIBUTE, 0)
        return self._timed("execute", super().execute_model, scheduler_output, *args, **kwargs)  # type: ignore[misc]

    def sample_tokens(self, *args: Any, **kwargs: Any) -> Any:
        return self._timed("sample", super().sample_tokens, *args, **kwargs)  # type: ignore[misc]

    def _timed(self, component: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        start_ns = time.monotonic_ns()
        result = call(*args, **kwargs)
        if self._spans is not None:
            self._spans.add(self._round, component, start_ns, time.monotonic_ns())
        return result

    def shutdown(self, *args: Any, **kwargs: Any) -> Any:
        if self._spans is not None:
            self._spans.close()
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
