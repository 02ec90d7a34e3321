"""What a recorded scheduler or worker is told through vLLM's ``additional_config``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

SETTINGS_KEY = "radixflow"
PROBE_MODES = ("off", "blocked", "full")


@dataclass(frozen=True)
class RecorderSettings:
    """Settings of the instrumentation.

    Attributes:
        run_directory: Existing run directory to write to.
        probe: ``off``; ``blocked`` (record BLOCKED visits of the scan itself); ``full`` (also look behind a stop).
        probe_cap: Most requests that the probe looks at behind one stop.
        nvtx: Whether components are shown to an NVTX tool, if one is attached.
        tables: Tables that are written; every one if None. Left out, ``visits`` (with ``awaited_states``), ``events``
            and ``spans`` save their cost, and the run does not say what they would.
        sample_rounds: Share of the rounds that are kept, each whole; the lives of requests are followed through all.
    """

    run_directory: Path
    probe: str = "full"
    probe_cap: int = 4096
    nvtx: bool = True
    tables: frozenset[str] | None = None
    sample_rounds: float = 1.0

    def records(self, table: str) -> bool:
        """Whether a table is written."""
        return self.tables is None or table in self.tables

    @classmethod
    def from_config(cls, vllm_config: Any) -> RecorderSettings | None:
        """The settings in a VllmConfig, None when nothing shall be recorded."""
        given = (vllm_config.additional_config or {}).get(SETTINGS_KEY, {})
        if "run_directory" not in given:
            return None
        probe = given.get("probe", "full")
        if probe not in PROBE_MODES:
            raise ValueError(f"probe must be one of {', '.join(PROBE_MODES)}, not {probe!r}")
        probe_cap = int(given.get("probe_cap", cls.probe_cap))
        tables = given.get("tables")
        return cls(
            Path(given["run_directory"]), probe, probe_cap, bool(given.get("nvtx", cls.nvtx)),
            None if tables is None else frozenset(tables),
        )  # fmt: skip
