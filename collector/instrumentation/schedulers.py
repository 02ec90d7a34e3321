"""vLLM scheduler classes that follow a policy and record every round."""

from __future__ import annotations

from typing import Any

from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.collector.instrumentation.attached.start import attach, engine_description
from radixflow.collector.instrumentation.parent_process import end_with_parent
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.spans.component_times import EngineComponents
from radixflow.collector.instrumentation.spans.nvtx_ranges import NvtxRanges
from radixflow.collector.policies.schedulers import FollowsPolicy
from radixflow.schema.writing.segment_writer import SegmentWriter


class RecordsRounds(FollowsPolicy):
    """Mixin before a vLLM Scheduler class: follows the policy of its settings and records.

    What it records, and where, is in ``additional_config["radixflow"]``: the run of an arm, or the settings of a server
    that is recorded run by run; without either it only follows the policy. The default is native selection: recording
    alone changes nothing.
    """

    default_policy = "radix"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        attached = AttachSettings.from_config(self.vllm_config)
        settings = RecorderSettings.from_config(self.vllm_config)
        if attached is not None:
            self.listener = attach(self, attached)
        elif settings is not None:
            writer = SegmentWriter(settings.run_directory, "engine")
            writer.describe(**engine_description(self))
            self.listener = RoundRecorder(self, writer, settings)
            if settings.records("spans"):
                self.components = EngineComponents(writer, NvtxRanges.attach() if settings.nvtx else None)
        if self.listener is not None:
            end_with_parent()


class RecordedScheduler(RecordsRounds, Scheduler):
    """For synchronous scheduling."""


class RecordedAsyncScheduler(RecordsRounds, AsyncScheduler):
    """For asynchronous scheduling."""
