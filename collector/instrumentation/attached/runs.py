"""The runs of a recorded server: their names, their manifests, their ends, and which of them are kept."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from radixflow.collector.engines.machine_facts import clock_anchor
from radixflow.collector.engines.run_closing import close_run
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.schema.errors import RadixflowError
from radixflow.schema.run_files.manifest import Manifest, read_manifest, write_manifest
from radixflow.schema.run_files.run_directory import create_run, require_at_rest

WORKLOAD = "served"
"""Name of the workload of a run whose requests somebody else sends."""


@dataclass(frozen=True)
class ServerFacts:
    """What the manifests of a server's runs have in common; the fields are those of a manifest."""

    model: dict[str, Any] = field(default_factory=dict)
    engine_arguments: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    hardware: dict[str, Any] = field(default_factory=dict)


@dataclass
class AttachedRun:
    """One run of a server: its folder and its manifest, of which this process is the only writer."""

    path: Path
    manifest: Manifest


class AttachedRuns:
    """Makes, closes and removes the runs of one server.

    Args:
        settings: Where runs go and how many are kept.
        facts: What every manifest says of the server.
    """

    def __init__(self, settings: AttachSettings, facts: ServerFacts) -> None:
        self._settings = settings
        self._facts = facts

    def create(self) -> AttachedRun:
        """Make the next run. Nothing is overwritten: its number is the first that no folder has.

        Raises:
            RadixflowError: The place cannot be written (exit code OUTPUT).
            OSError: As above.
        """
        settings = self._settings
        folder = Path(settings.folder)
        folder.mkdir(parents=True, exist_ok=True)
        stream = self._next_folder(folder)
        manifest = Manifest(
            experiment=folder.name, stream=stream.name, policy=settings.policy, command=list(settings.command),
            model={"name": settings.model} | self._facts.model, engine_arguments=dict(self._facts.engine_arguments),
            workload={"name": WORKLOAD}, versions=dict(self._facts.versions), hardware=dict(self._facts.hardware),
            clock_anchors=[clock_anchor("engine, start of the run")], probe=settings.probe,
            attached={"server": settings.server, **settings.limits},
            sampling={} if settings.sample_rounds >= 1 else {"rounds_fraction": settings.sample_rounds},
        )  # fmt: skip
        path = stream / settings.policy
        try:
            create_run(path, manifest)
        except RadixflowError:
            shutil.rmtree(stream, ignore_errors=True)
            raise
        return AttachedRun(path, manifest)

    def close(self, run: AttachedRun, end_reason: str) -> str:
        """Write the last manifest of a run whose writers are closed; returns the state that the run is in.

        Raises:
            RadixflowError: The manifest cannot be written (exit code OUTPUT).
        """
        run.manifest.attached["end_reason"] = end_reason
        run.manifest.clock_anchors.append(clock_anchor("engine, end of the run"))
        close_run(run.path, run.manifest, "complete")
        return run.manifest.state

    def remove_oldest(self) -> list[Path]:
        """Keep the latest runs of the ring, also those of earlier starts; returns what was removed.

        Only runs that were recorded with a ring belong to it, and none that is being recorded is removed.
        """
        ring = [path for path in _runs_of(self._settings) if _is_of_a_ring(path)]
        doomed = [path for path in ring[: -self._settings.rotate] if _is_at_rest(path)]
        for path in doomed:
            shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):
                path.parent.rmdir()  # unless another policy has a run there
        return doomed

    def _next_folder(self, folder: Path) -> Path:
        number = max((_number(path, self._settings.stream) for path in folder.iterdir()), default=0)
        while True:
            number += 1
            stream = folder / f"{self._settings.stream}-{number:04d}"
            try:
                stream.mkdir()
            except FileExistsError:  # another server was quicker
                continue
            return stream


def runs_of_server(settings: AttachSettings) -> list[Path]:
    """The runs that one start of a server has made so far, in their order."""
    found = []
    for path in _runs_of(settings):
        with suppress(RadixflowError):
            if read_manifest(path).attached.get("server") == settings.server:
                found.append(path)
    return found


def mark_incomplete(path: Path, sentence: str) -> None:
    """Say in a run that its engine ended without closing it.

    Raises:
        RadixflowError: The manifest cannot be read or written.
    """
    manifest = read_manifest(path)
    manifest.faults.append(sentence)
    manifest.state = "incomplete"
    write_manifest(path, manifest)


def _runs_of(settings: AttachSettings) -> Iterator[Path]:
    folder = Path(settings.folder)
    numbered = ((_number(path, settings.stream), path) for path in folder.glob(f"{settings.stream}-*"))
    for _, path in sorted(each for each in numbered if each[0]):
        if (path / settings.policy).is_dir():
            yield path / settings.policy


def _number(path: Path, stream: str) -> int:
    match = re.fullmatch(re.escape(stream) + r"-(\d{4,})", path.name)
    return int(match[1]) if match else 0


def _is_at_rest(path: Path) -> bool:
    try:
        require_at_rest(path)
    except RadixflowError:
        return False
    return True


def _is_of_a_ring(path: Path) -> bool:
    try:
        return bool(read_manifest(path).attached.get("rotate"))
    except RadixflowError:
        return False
