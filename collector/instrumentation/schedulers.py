"""vLLM scheduler classes that follow a policy and record every round."""

from __future__ import annotations

import platform
import time
from typing import Any

import vllm
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.core.sched.scheduler import Scheduler

from radixflow.collector.instrumentation.component_times import EngineComponents
from radixflow.collector.instrumentation.nvtx_ranges import NvtxRanges
from radixflow.collector.instrumentation.parent_process import end_with_parent
from radixflow.collector.instrumentation.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.policies.schedulers import FollowsPolicy
from radixflow.schema.table_writer import SegmentWriter


class RecordsRounds(FollowsPolicy):
    """Mixin before a vLLM Scheduler class: follows the policy of its settings and records.

    Without a run directory in ``additional_config["radixflow"]`` it only follows the policy. The default is native
    selection: recording alone changes nothing.
    """

    default_policy = "radix"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        settings = RecorderSettings.from_config(self.vllm_config)
        if settings is None:
            return
        writer = SegmentWriter(settings.run_directory, "engine")
        writer.describe(
            policy_effective=self.radixflow_policy.name,
            versions={"vllm": vllm.__version__, "python": platform.python_version()},
            num_blocks=self.kv_cache_manager.block_pool.num_gpu_blocks,
            block_size=self.block_size,
            hash_block_size=self.hash_block_size,
            row_capacity=self.max_num_running_reqs,
            token_budget=self.max_num_scheduled_tokens,
            num_state_groups=len(self._state_managers),
            clock_anchors=[{"monotonic_ns": time.monotonic_ns(), "wall_ns": time.time_ns(), "where": "engine start"}],
        )
        self.listener = RoundRecorder(self, writer, settings)
        if settings.records("spans"):
            self.components = EngineComponents(writer, NvtxRanges.attach() if settings.nvtx else None)
        end_with_parent()


class RecordedScheduler(RecordsRounds, Scheduler):
    """For synchronous scheduling."""


class RecordedAsyncScheduler(RecordsRounds, AsyncScheduler):
    """For asynchronous scheduling."""
