"""Closes a run: sums up in the manifest what its writers report, and says which state the run is in."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radixflow.schema.run_files.manifest import Manifest, utc_now, write_manifest
from radixflow.schema.run_files.run_directory import RunDirectory, unclosed_sentence


def close_run(path: Path, manifest: Manifest, state: str, observers: Sequence[str] = ()) -> None:
    """Sum up the writers in the manifest and write it for the last time.

    Args:
        path: The run.
        manifest: Its manifest; changed in place.
        state: ``complete`` or ``incomplete``; a writer that did not close makes it incomplete.
        observers: Names of writers that took part, even if they left no status file.
    """
    writers = RunDirectory(path).writers()
    nothing: dict[str, Any] = {}
    for name, writer in (dict.fromkeys(observers, nothing) | writers).items():
        _add(manifest.tables, writer.get("rows_written", {}))
        _add(manifest.drops, writer.get("drops", {}))
        manifest.faults += [str(fault) for fault in writer.get("faults", [])]
        if "device_clock" in writer:
            manifest.device_clocks[name] = writer["device_clock"]
        if not writer.get("closed"):
            manifest.faults.append(unclosed_sentence(name, writer))
            state = "incomplete"
    manifest.sampling = writers.get("engine", {}).get("sampling", manifest.sampling)
    manifest.policy_effective = writers.get("engine", {}).get("policy_effective", manifest.policy_effective)
    manifest.state, manifest.finished_utc = state, utc_now()
    write_manifest(path, manifest)


def _add(totals: dict[str, int], counts: dict[str, int]) -> None:
    for table, count in counts.items():
        totals[table] = totals.get(table, 0) + count
