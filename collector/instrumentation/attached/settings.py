"""What a recorded server is told through vLLM's ``additional_config``: where its runs go, and what bounds them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from radixflow.collector.instrumentation.settings import PROBE_MODES, SETTINGS_KEY

ATTACH_KEY = "attach"


@dataclass(frozen=True)
class AttachSettings:
    """Settings of a recording that makes its own runs.

    Attributes:
        folder: Absolute folder of the experiment; runs are made in it as ``<stream>-<NNNN>/<policy>``.
        stream: First part of the name of each run.
        policy: Policy asked for.
        model: Name of the model for people.
        server: Random name of the start of the server; every run of it carries it.
        command: Command line for the manifests; of paths only the last part.
        probe: ``off``, ``blocked`` or ``full``.
        sample_rounds: Fraction of the rounds that are kept, above 0 and up to 1 (all of them).
        max_size_bytes: A run that has grown to this many bytes ends; None: none does.
        max_duration_s: A run that has lasted for this many seconds ends; None: none does.
        rotate: Runs kept: a new one begins where one ends, and the oldest are removed; 0: recording stops there.
        starts_stopped: Whether to record nothing until the control file says so.
    """

    folder: str
    stream: str
    policy: str
    model: str
    server: str
    command: tuple[str, ...] = ()
    probe: str = "full"
    sample_rounds: float = 1.0
    max_size_bytes: int | None = None
    max_duration_s: float | None = None
    rotate: int = 0
    starts_stopped: bool = False

    @property
    def control_file(self) -> Path:
        """The file that says whether to record."""
        return Path(self.folder) / f"{self.stream}.control"

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of a run, as they stand in its manifest under ``attached``."""
        names = ("max_size_bytes", "max_duration_s", "rotate")
        return {name: getattr(self, name) for name in names}

    def additional_config(self) -> dict[str, Any]:
        """The value of ``additional_config`` that :meth:`from_config` reads back."""
        content = {name: value for name, value in asdict(self).items() if name != "policy"}
        return {SETTINGS_KEY: {"policy": self.policy, ATTACH_KEY: content}}

    @classmethod
    def from_config(cls, vllm_config: Any) -> AttachSettings | None:
        """The settings in a VllmConfig, None when no server is recorded.

        Raises:
            ValueError: They are not what :meth:`additional_config` makes.
        """
        given = (vllm_config.additional_config or {}).get(SETTINGS_KEY, {})
        content = given.get(ATTACH_KEY)
        if content is None:
            return None
        try:
            settings = cls(**{**content, "policy": given.get("policy", "radix"), "command": tuple(content["command"])})
            is_sound = 0 < settings.sample_rounds <= 1 and settings.rotate >= 0 and settings.probe in PROBE_MODES
        except (TypeError, KeyError) as error:
            raise ValueError(f"additional_config.{SETTINGS_KEY}.{ATTACH_KEY} is not understood: {error}") from error
        if not is_sound:
            raise ValueError(f"additional_config.{SETTINGS_KEY}.{ATTACH_KEY} has a value out of its range: {content}")
        return settings
