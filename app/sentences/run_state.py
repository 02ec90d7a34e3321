"""Sentences that say what a run is, and warnings about runs whose numbers need caution."""

from typing import Any

import pyarrow as pa

from radixflow.app import units
from radixflow.app.arms import traversal

FACTS = {
    "experiment": "Experiment",
    "stream": "Stream",
    "policy": "Policy asked for",
    "policy_effective": "Policy in effect",
    "state": "State",
    "engine_kind": "Engine",
    "vllm_version": "vLLM version",
    "model_name": "Model",
    "is_hybrid": "Hybrid model",
    "block_size": "Block size (tokens)",
    "row_capacity": "Row capacity (rows)",
    "token_budget": "Token budget (tokens)",
    "probe": "Counterfactual probe",
    "sampled_fraction": "Share of the rounds kept (empty: all)",
    "num_requests": "Requests offered",
    "workload_digest": "Digest of the offered stream",
    "seed": "Seed",
    "device": "Device",
    "hardware": "Machine",
    "created_utc": "Recorded at (UTC)",
    "command": "Command",
    "num_drops": "Rows lost",
    "num_faults": "Faults reported",
    "run_id": "Run id",
}
"""Column of ``runs`` to its name for a person, in the order in which facts are shown."""


def written_fact(value: object) -> str:
    """Write one fact of a run."""
    if value is None:
        return units.NOT_MEASURED
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def run_sentence(run: dict[str, Any]) -> str:
    """Say what one run is: model, engine, limits and machine."""
    engine = (
        "a simulated engine"
        if run["engine_kind"] == "simulated"
        else f"vLLM {run['vllm_version'] or 'of an unknown version'}"
    )
    parts = [
        f"{run['model_name'] or 'An unnamed model'} on {engine}",
        f"{units.number(run['row_capacity'])} rows and {units.number(run['token_budget'])} tokens a round at most",
        f"block size {units.number(run['block_size'])} tokens",
    ]
    if run["num_requests"]:
        parts.append(f"{units.counted(run['num_requests'], 'request')} offered")
    return ", ".join(parts) + "."


def state_warnings(runs: pa.Table) -> list[str]:
    """Return a warning for each reason to distrust a run: simulated, incomplete, being recorded, faulty, sampled."""
    warnings: list[str] = []
    for run in runs.to_pylist():
        warnings += _warnings(run)
    return warnings


def _warnings(run: dict[str, Any]) -> list[str]:
    label, warnings = run["label"], []
    if run["engine_kind"] == "simulated":
        warnings.append(
            f"{label} was simulated: its rounds are real scheduling, its durations are not measured on an engine."
        )
    if run["state"] == "incomplete":
        warnings.append(f"{label} is incomplete: its recording ended early, and the numbers count what was kept.")
    if run["state"] == "recording":
        warnings.append(f"{label} is still being recorded: its numbers will change.")
    if run["num_drops"]:
        warnings.append(
            f"{label} lost {units.counted(run['num_drops'], 'row')} while it was recorded: its numbers are too low."
        )
    if run["num_faults"]:
        faults = units.counted(run["num_faults"], "fault")
        warnings.append(f"{label} reported {faults} while it was recorded; the overview lists what is wrong.")
    if run["sampled_fraction"] is not None:
        warnings.append(
            f"{label} keeps a sample of {units.fraction(run['sampled_fraction'])} of its rounds: pages count among the "
            "kept ones, and totals that need every round are not shown."
        )
    if run["probe"] == "off":
        warnings.append(
            f"{label} was recorded without the probe: avoidable rows are unknown and drawn as other causes."
        )
    if run["policy_effective"] and traversal(run["policy_effective"]) != traversal(run["policy"]):
        warnings.append(f"{label} was asked for policy {run['policy']} and ran under {run['policy_effective']}.")
    return warnings
