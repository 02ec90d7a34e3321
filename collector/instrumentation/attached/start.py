"""Recording of a server from the start of its engine on."""

from __future__ import annotations

import platform
import sys
import time
from typing import Any

import vllm

from radixflow.collector.engines import machine_facts, vllm_environment
from radixflow.collector.engines.vllm_arguments import engine_facts
from radixflow.collector.instrumentation.attached.keeper import RunKeeper
from radixflow.collector.instrumentation.attached.runs import AttachedRuns, ServerFacts
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.collector.vllm_adapters.scan import ScanListener


def engine_description(scheduler: Any) -> dict[str, Any]:
    """What the engine process says of itself in ``writers/engine.json``."""
    return {
        "policy_effective": scheduler.radixflow_policy.name,
        "versions": {"vllm": vllm.__version__, "python": platform.python_version()},
        "num_blocks": scheduler.kv_cache_manager.block_pool.num_gpu_blocks,
        "block_size": scheduler.block_size,
        "hash_block_size": scheduler.hash_block_size,
        "row_capacity": scheduler.max_num_running_reqs,
        "token_budget": scheduler.max_num_scheduled_tokens,
        "num_state_groups": len(scheduler.state_positions()),
        "clock_anchors": [{"monotonic_ns": time.monotonic_ns(), "wall_ns": time.time_ns(), "where": "engine start"}],
    }


def attach(scheduler: Any, settings: AttachSettings) -> ScanListener | None:
    """Begin to record a server and return the listener of its scheduler.

    A server starts whether it can be recorded or not: what is in the way is said on stderr, and None returned.
    """
    try:
        keeper = RunKeeper(
            scheduler, settings, AttachedRuns(settings, _facts(scheduler)), lambda: engine_description(scheduler)
        )
        keeper.start()
    except Exception as error:  # a recorder that fails must not keep a server from starting
        sentence = f"this server is not recorded: {type(error).__name__}: {error}"
        print(f"radixflow: {sentence}", file=sys.stderr, flush=True)
        return None
    return keeper.listener


def _facts(scheduler: Any) -> ServerFacts:
    config = scheduler.vllm_config
    model, engine_arguments = engine_facts(config)
    device = vllm_environment.device_in_use("auto")
    hardware = machine_facts.hardware(vllm_environment.device_name(device))
    return ServerFacts(model, engine_arguments, machine_facts.versions(), hardware)
