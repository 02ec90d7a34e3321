"""vLLM's own KV connectors on the scheduler's side, answered as their workers would, every transfer a step later."""

import importlib
from typing import Any

from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.outputs import KVConnectorOutput
from vllm.v1.request import RequestStatus

OFFLOADING = {
    "kv_connector": "OffloadingConnector",
    "kv_role": "kv_both",
    "kv_connector_extra_config": {"cpu_bytes_to_use": 1 << 24},
}
SIMPLE_CPU = OFFLOADING | {"kv_connector": "SimpleCPUOffloadConnector"}
CONNECTORS: dict[str, dict[str, Any]] = {
    "offloading": OFFLOADING,
    "simple-cpu": SIMPLE_CPU,
    "decode-bench": {"kv_connector": "DecodeBenchConnector", "kv_role": "kv_both"},
    "multi": {
        "kv_connector": "MultiConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"connectors": [OFFLOADING, SIMPLE_CPU]},
    },
    "nixl": {"kv_connector": "NixlConnector", "kv_role": "kv_both"},
    "mooncake": {"kv_connector": "MooncakeConnector", "kv_role": "kv_both"},
}
"""Settings by a short name; those that load keep what they load on this machine or nowhere."""
PREFILLED_ELSEWHERE = {
    "do_remote_prefill": True,
    "do_remote_decode": False,
    "remote_engine_id": "another",
    "remote_request_id": "another",
    "remote_host": "localhost",
    "remote_port": 1,
    "tp_size": 1,
}
"""What a request brings along whose prompt another engine has computed; `remote_block_ids` come in addition."""


def transfers_done(scheduler: Scheduler, output: SchedulerOutput) -> KVConnectorOutput | None:
    """Returns what the workers report once all transfers of a step are done; None without a connector."""
    if scheduler.connector is None:
        return None
    loaded = {name for name, request in scheduler.requests.items() if _has_just_loaded(request)}
    return KVConnectorOutput(finished_recving=loaded, kv_connector_worker_meta=_report(output.kv_connector_metadata))


def _has_just_loaded(request: Any) -> bool:
    """Whether a request waits for a load that was not reported yet; under async scheduling answers overlap."""
    was_reported = getattr(request, "load_was_reported", False)
    request.load_was_reported = request.status == RequestStatus.WAITING_FOR_REMOTE_KVS
    return request.load_was_reported and not was_reported


def _report(meta: Any) -> Any:
    """The workers' report on one connector's transfers, by the kind of its metadata."""
    kind = type(meta).__name__
    if kind == "MultiKVConnectorMetadata":
        return _made(meta, "MultiKVConnectorWorkerMetadata", tuple(_report(part) for part in meta.metadata))
    if kind == "OffloadingConnectorMetadata":
        return _made(meta, "OffloadingWorkerMetadata", dict.fromkeys([*meta.load_jobs, *meta.store_jobs], 1))
    if kind == "SimpleCPUOffloadMetadata" and meta.store_event >= 0:
        return _made(meta, "SimpleCPUOffloadWorkerMetadata", {meta.store_event: 1})
    return None


def _made(meta: Any, name: str, *arguments: Any) -> Any:
    return getattr(importlib.import_module(type(meta).__module__), name)(*arguments)
