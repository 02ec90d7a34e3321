"""What a run says of itself: ``manifest.json``, the one file that makes a folder a run."""

import json
import uuid
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files import json_kinds
from radixflow.schema.run_files.atomic_files import write_json_atomically
from radixflow.schema.run_files.writer_hold import free_room

RUN_FORMAT = "radixflow-run"
"""Magic word in every manifest."""
FORMAT_VERSION = 1
"""Version of the run directory that this code writes, and the only one that it reads."""
MANIFEST_NAME = "manifest.json"


def utc_now() -> str:
    """Return the present time in UTC as ISO 8601 text with milliseconds, as manifests carry it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Manifest:
    """The manifest of one run; what is not known stays empty or None.

    Attributes:
        experiment: Name of the experiment.
        stream: Name of the stream; arms of one stream are paired.
        policy: Policy asked for.
        policy_effective: Policy in effect, as the engine process reports it.
        engine_kind: ``vllm`` or ``simulated``.
        state: ``recording``, ``complete`` or ``incomplete``.
        created_utc: Start of the recording, ISO 8601 in UTC.
        finished_utc: End of the recording.
        command: Command line; of paths only the last part.
        model: ``name``, ``architecture``, ``is_hybrid``, ``block_size``, ``hash_block_size``, ...
        engine_arguments: ``max_num_seqs``, ``max_num_batched_tokens``, ``mamba_cache_mode``, ...
        workload: ``name``, ``digest``, ``seed``, ``num_requests``, ``num_groups``, ``regime``, ``input_order``, ...
        versions: Version of each package, and of Python.
        hardware: ``cpu``, ``num_cores``, ``memory_bytes``, ``device``.
        clock_anchors: Pairs of ``monotonic_ns`` and ``wall_ns``, each with ``where`` it was taken.
        device_clocks: By worker, how well its device's clock was mapped to the host's: ``num_anchors``, ``span_ns``,
            ``drift_ns``, ``drift_ppm``, ``largest_step_ns``, ``largest_uncertainty_ns``, ``num_lost`` intervals.
        tables: Rows written, by table.
        drops: Rows lost, by table.
        faults: What went wrong in the recording, in sentences.
        probe: ``off``, ``blocked`` or ``full``: how far the counterfactual probe goes.
        repaired_utc: When a repair last mended the run after its recording was killed.
        attached: Of a run of a server that somebody else loads: ``server`` (random name of its start), the limits of a
            run (``max_size_bytes``, ``max_duration_s``, ``rotate``), ``end_reason``; else empty.
        sampling: Of a run that keeps a sample of its rounds: ``rounds_fraction`` (share that is drawn) and exact
            ``counts`` of all of them (``rounds``, ``rows``, ``tokens``, ``empty_steps``, ``blocked_visits``); else
            empty.
        run_id: Random name of the run.
        format: Always ``radixflow-run``.
        format_version: Version of the run directory.
    """

    experiment: str
    stream: str
    policy: str
    policy_effective: str | None = None
    engine_kind: str = "vllm"
    state: str = "recording"
    created_utc: str = field(default_factory=utc_now)
    finished_utc: str | None = None
    command: list[str] = field(default_factory=list)
    model: dict[str, Any] = field(default_factory=dict)
    engine_arguments: dict[str, Any] = field(default_factory=dict)
    workload: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    hardware: dict[str, Any] = field(default_factory=dict)
    clock_anchors: list[dict[str, Any]] = field(default_factory=list)
    device_clocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    drops: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    probe: str = "blocked"
    repaired_utc: str | None = None
    attached: dict[str, Any] = field(default_factory=dict)
    sampling: dict[str, Any] = field(default_factory=dict)
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    format: str = RUN_FORMAT
    format_version: int = FORMAT_VERSION

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as a JSON object, the identifying keys first."""
        content = asdict(self)
        return {key: content.pop(key) for key in ("format", "format_version", "run_id")} | content

    @classmethod
    def from_json(cls, content: Any, where: str = MANIFEST_NAME) -> "Manifest":
        """Build a manifest from a JSON object; keys that this version does not know are passed over.

        Args:
            content: The parsed JSON.
            where: File name for the messages.

        Raises:
            RadixflowError: Not a manifest of ours, of another format version, or without a required key.
        """
        if not isinstance(content, dict) or content.get("format") != RUN_FORMAT:
            raise RadixflowError(f"{where} is not the manifest of a RadixFlow run.")
        version = content.get("format_version")
        if version != FORMAT_VERSION or isinstance(version, bool):
            raise RadixflowError(
                f"{where} has run format version {version!r:.40}; this RadixFlow reads version {FORMAT_VERSION}."
            )
        _require_kinds(content, where)
        known = {each.name for each in fields(cls)}
        return cls(**{key: value for key, value in content.items() if key in known})


def write_manifest(run_path: Path | str, manifest: Manifest) -> None:
    """Write ``manifest.json`` into the run directory, whole or not at all, synced to the disk.

    The last manifest of a run, which does not say ``recording``, takes the room that was reserved for it.

    Raises:
        RadixflowError: The folder cannot be written (exit code OUTPUT).
    """
    path = Path(run_path) / MANIFEST_NAME
    if manifest.state != "recording":
        free_room(Path(run_path))
    try:
        write_json_atomically(path, manifest.to_json())
    except OSError as error:
        raise RadixflowError(f"Cannot write {path}: {error.strerror or error}.", ExitCode.OUTPUT) from error


def read_manifest(run_path: Path | str) -> Manifest:
    """Read the manifest of the run directory.

    Raises:
        RadixflowError: There is none, it is not readable, or its format version is another one.
    """
    path = Path(run_path) / MANIFEST_NAME
    return Manifest.from_json(_load(path), str(path))


def is_run(path: Path | str) -> bool:
    """Say whether the folder is a run of ours, of whatever format version."""
    try:
        content = _load(Path(path) / MANIFEST_NAME)
    except RadixflowError:
        return False
    return isinstance(content, dict) and content.get("format") == RUN_FORMAT


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RadixflowError(f"{path.parent} is not a run: it has no {path.name}.") from error
    except OSError as error:
        raise RadixflowError(f"Cannot read {path}: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:  # JSON, UTF-8, and what is nested without end
        raise RadixflowError(f"{path} is not valid JSON: {error}.") from error


_KINDS = {
    **dict.fromkeys(
        ("experiment", "stream", "policy", "state", "run_id", "created_utc", "engine_kind", "probe",
         "policy_effective?", "finished_utc?", "repaired_utc?", "model.name", "workload.digest", "workload.regime",
         "workload.input_order", "versions.vllm", "hardware.cpu", "hardware.device"), json_kinds.TEXT,
    ),
    **dict.fromkeys(
        ("model", "engine_arguments", "workload", "versions", "hardware", "device_clocks", "attached", "sampling"),
        json_kinds.OBJECT,
    ),
    **dict.fromkeys(("model.is_hybrid", "engine_arguments.async_scheduling"), json_kinds.FLAG),
    **dict.fromkeys(
        ("engine_arguments.max_num_seqs", "engine_arguments.max_num_batched_tokens", "model.block_size",
         "workload.num_requests", "workload.repeat"), json_kinds.INTEGER,
    ),
    **dict.fromkeys(("workload.rate", "hardware.num_cores", "hardware.memory_bytes"), json_kinds.NUMBER),
    "workload.seed": json_kinds.LARGE_INTEGER,
    "sampling.rounds_fraction": json_kinds.NUMBER,
    "sampling.counts": json_kinds.COUNTS,
    "tables": json_kinds.COUNTS,
    "drops": json_kinds.COUNTS,
    "faults": json_kinds.TEXTS,
    "command": json_kinds.TEXTS,
    "clock_anchors": json_kinds.ARRAY,
}  # fmt: skip
"""Key of a manifest to the type that its readers rely on; all other keys are only shown, whatever they hold."""


def _require_kinds(content: dict[str, Any], where: str) -> None:
    for key in ("experiment", "stream", "policy"):
        if key not in content:
            raise RadixflowError(f"{where} has no {key!r}.")
    for misfit in json_kinds.misfits(content, _KINDS):
        raise RadixflowError(f"{where}: {misfit}.")
