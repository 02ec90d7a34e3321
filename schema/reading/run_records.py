"""What the manifest and the writers of a run say, as rows: one in ``opened_runs``, one a fact in ``opened_facts``."""

import json
from collections.abc import Iterator
from typing import Any

from radixflow.schema.reading.run_content import RunContent
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import CLIENT_WRITER

RUN_COLUMNS = {
    "run": "INTEGER", "run_id": "VARCHAR", "policy": "VARCHAR", "policy_effective": "VARCHAR", "experiment": "VARCHAR",
    "stream": "VARCHAR", "state": "VARCHAR", "engine_kind": "VARCHAR", "model_name": "VARCHAR", "is_hybrid": "BOOLEAN",
    "block_size": "INTEGER", "row_capacity": "INTEGER", "token_budget": "INTEGER", "num_requests": "INTEGER",
    "workload_digest": "VARCHAR", "seed": "BIGINT", "vllm_version": "VARCHAR", "created_utc": "VARCHAR",
    "command": "VARCHAR", "hardware": "VARCHAR", "device": "VARCHAR", "num_faults": "INTEGER", "num_drops": "BIGINT",
    "probe": "VARCHAR", "is_observed": "BOOLEAN", "origin_ns": "BIGINT",
    "regime": "VARCHAR", "input_order": "VARCHAR", "repeat": "INTEGER", "arrival_rate": "DOUBLE",
    "is_async": "BOOLEAN", "sampled_fraction": "DOUBLE", "exact_num_rounds": "BIGINT", "exact_num_rows": "BIGINT",
    "exact_num_tokens": "BIGINT", "exact_num_empty_steps": "BIGINT", "exact_num_blocked_visits": "BIGINT",
    "records_stalls": "BOOLEAN",
}  # fmt: skip
FACT_COLUMNS = {"run": "INTEGER", "property": "VARCHAR", "value": "VARCHAR"}


def run_record(number: int, content: RunContent) -> dict[str, Any]:
    """Return the row of ``opened_runs`` of one run."""
    manifest, writers = content.manifest, content.writers
    sampling = manifest.sampling | (_first_said(writers, "sampling") or {})
    counts = sampling.get("counts", {})
    said = [status["policy_effective"] for status in writers.values() if status.get("policy_effective")]
    dropped = sum(sum(status.get("drops", {}).values()) for status in writers.values())
    return {
        "run": number,
        "run_id": manifest.run_id,
        "policy": manifest.policy,
        "policy_effective": manifest.policy_effective or next(iter(said), None),
        "experiment": manifest.experiment,
        "stream": manifest.stream,
        "state": content.state,
        "engine_kind": manifest.engine_kind,
        "model_name": manifest.model.get("name"),
        "is_hybrid": manifest.model.get("is_hybrid"),
        "block_size": manifest.model.get("block_size") or _first_said(writers, "block_size"),
        "row_capacity": manifest.engine_arguments.get("max_num_seqs"),
        "token_budget": manifest.engine_arguments.get("max_num_batched_tokens"),
        "num_requests": manifest.workload.get("num_requests"),
        "workload_digest": manifest.workload.get("digest"),
        "seed": manifest.workload.get("seed"),
        "vllm_version": manifest.versions.get("vllm"),
        "created_utc": manifest.created_utc,
        "command": " ".join(str(word) for word in manifest.command),
        "hardware": _hardware_line(manifest.hardware),
        "device": manifest.hardware.get("device"),
        "num_faults": len({*manifest.faults, *writer_faults(writers)}) + len(content.faults),
        "num_drops": max(dropped, sum(manifest.drops.values())),
        "probe": manifest.probe,
        "regime": manifest.workload.get("regime"),
        "input_order": manifest.workload.get("input_order"),
        "repeat": manifest.workload.get("repeat"),
        "arrival_rate": manifest.workload.get("rate"),
        "is_async": manifest.engine_arguments.get("async_scheduling"),
        "sampled_fraction": sampling.get("rounds_fraction"),
        "exact_num_rounds": counts.get("rounds"),
        "exact_num_rows": counts.get("rows"),
        "exact_num_tokens": counts.get("tokens"),
        "exact_num_empty_steps": counts.get("empty_steps", _first_said(writers, "num_empty_steps")),
        "exact_num_blocked_visits": counts.get("blocked_visits"),
        "records_stalls": bool(_first_said(writers, "records_stalls")),
        "is_observed": any(name != CLIENT_WRITER for name in writers),
        "origin_ns": content.origin_ns,
    }


def _first_said(writers: dict[str, dict[str, Any]], key: str) -> Any:
    return next((status[key] for status in writers.values() if status.get(key) is not None), None)


def _hardware_line(hardware: dict[str, Any]) -> str | None:
    parts = [str(hardware["cpu"])] if hardware.get("cpu") else []
    if hardware.get("num_cores"):
        parts.append(f"{hardware['num_cores']} cores")
    if hardware.get("memory_bytes"):
        parts.append(f"{hardware['memory_bytes'] / 2**30:.3g} GiB")
    return ", ".join(parts) or None


def run_facts(number: int, manifest: Manifest) -> Iterator[tuple[int, str, str]]:
    """Yield every known fact of a manifest that two runs may share or not, as (run, property, value)."""
    groups = {
        "workload": {"digest": manifest.workload.get("digest")},
        "model": manifest.model,
        "engine": manifest.engine_arguments,
        "versions": manifest.versions,
        "hardware": manifest.hardware,
        "recording": {
            "engine_kind": manifest.engine_kind,
            "probe": manifest.probe,
            "sampled_fraction": manifest.sampling.get("rounds_fraction"),
        },
    }
    for group, facts in groups.items():
        for name, value in facts.items():
            if value is not None:
                yield number, f"{group}.{name}", value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def writer_faults(writers: dict[str, dict[str, Any]]) -> set[str]:
    """Return every fault that a writer of the run reported in its status file, as one sentence each."""
    return {str(fault) for status in writers.values() for fault in status.get("faults", [])}
