"""A run on the disk: where its parts are, whether it is complete, how a new one is made, how runs are found."""

import errno
import json
import os
import shutil
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.atomic_files import TEMPORARY_PREFIX
from radixflow.schema.run_files.json_kinds import COUNTS, FLAG, INTEGER, NUMBER, TEXT, TEXTS, misfits
from radixflow.schema.run_files.manifest import (
    FORMAT_VERSION,
    MANIFEST_NAME,
    RUN_FORMAT,
    Manifest,
    is_run,
    read_manifest,
    write_manifest,
)
from radixflow.schema.run_files.segment_names import without_merged
from radixflow.schema.run_files.writer_hold import held_writers, reserve_room

__all__ = [
    "CLIENT_WRITER",
    "FORMAT_VERSION",
    "RUN_FORMAT",
    "STALE_SECONDS",
    "RunDirectory",
    "create_run",
    "find_runs",
    "require_at_rest",
    "unclosed_sentence",
]

WRITERS_FOLDER = "writers"
CLIENT_WRITER = "client"
"""Writer name of the process that sends the requests; every other writer observes the engine."""
STALE_SECONDS = 10.0
"""A recording whose writers have been silent for longer than this has been killed."""
MAXIMUM_DEPTH = 4
"""How many folders below its root :func:`find_runs` looks."""


class RunDirectory:
    """One run directory.

    Args:
        path: The folder that holds ``manifest.json``; nothing is read before it is asked for.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"RunDirectory({str(self.path)!r})"

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest as it was when first asked for.

        Raises:
            RadixflowError: The manifest is missing, broken or of another format version.
        """
        return read_manifest(self.path)

    @property
    def state(self) -> str:
        """``complete``, ``recording`` or ``incomplete``, from the files as they are now.

        A run is complete when its manifest says so and every writer is closed; it is recording while its writers
        still report; else it is incomplete.
        """
        state = read_manifest(self.path).state
        writers = self.writers()
        if state == "complete":
            return "complete" if all(writer.get("closed") for writer in writers.values()) else "incomplete"
        if state == "recording" and time.time() - self._last_sign_of_life() < STALE_SECONDS:
            return "recording"
        return "incomplete"

    def segments(self, table: str) -> list[Path]:
        """Return the complete segments of a table, by name.

        Files that are still being written are not among them, nor segments that a merged file holds.
        """
        folder = self.path / table
        try:
            found = sorted(name for name in os.listdir(folder) if name.endswith(".parquet"))
        except OSError:
            return []
        return without_merged(folder / name for name in found if not name.startswith("."))

    def writers(self) -> dict[str, dict[str, Any]]:
        """Return what each writer process says of itself, by writer name.

        A file that cannot be read gives a writer with one entry in ``faults`` and nothing else.
        """
        return {path.stem: _read_writer(path) for path in self._writer_files()}

    def unfinished_files(self) -> list[Path]:
        """Return files under a temporary name: what a writer was writing when it was killed."""
        found = [*self.path.glob(f"{TEMPORARY_PREFIX}*"), *self.path.glob(f"*/{TEMPORARY_PREFIX}*")]
        return sorted(found)

    def living_writers(self) -> list[str]:
        """Return the names of the writers whose processes live on this machine, whether they report or not."""
        return held_writers(self.path / WRITERS_FOLDER)

    def _writer_files(self) -> list[Path]:
        found = (self.path / WRITERS_FOLDER).glob("*.json")
        return sorted(path for path in found if not path.name.startswith("."))

    def _last_sign_of_life(self) -> float:
        times = [0.0]
        for path in [self.path / MANIFEST_NAME, *self._writer_files()]:
            try:
                times.append(path.stat().st_mtime)
            except OSError:  # replaced or removed since it was listed
                continue
        return max(times)


def create_run(path: Path | str, manifest: Manifest, force: bool = False) -> RunDirectory:
    """Make the folder of a new run and write its manifest.

    Args:
        path: Folder of the run; parents are made.
        manifest: First manifest of the run.
        force: Replace a run that is already there. A folder that is no run is never removed.

    Raises:
        RadixflowError: A run or another non-empty folder is in the way, or the place cannot be written
            (exit code OUTPUT).
    """
    path = Path(path)
    try:
        _make_room(path, force)
        path.mkdir(parents=True, exist_ok=True)
        if manifest.state == "recording":
            reserve_room(path)
    except OSError as error:
        reason = "a file is in the way" if error.errno in (errno.EEXIST, errno.ENOTDIR) else error.strerror or error
        raise RadixflowError(f"Cannot create the run {path}: {reason}.", ExitCode.OUTPUT) from error
    write_manifest(path, manifest)
    return RunDirectory(path)


def find_runs(root: Path | str) -> list[RunDirectory]:
    """Find the runs in a folder and up to four levels below it, sorted by path.

    Runs of another format version are among them: opening them says what is wrong.

    Raises:
        RadixflowError: The folder does not exist or cannot be read.
    """
    root = Path(root)
    if not root.is_dir():
        raise RadixflowError(f"There is no folder {root}.")
    found: list[RunDirectory] = []
    for folder, names, _ in os.walk(root, followlinks=False):
        if is_run(folder):
            found.append(RunDirectory(folder))
            names.clear()  # runs do not nest
        if len(Path(folder).relative_to(root).parts) >= MAXIMUM_DEPTH:
            names.clear()
        names[:] = [name for name in names if not name.startswith(".")]
    return sorted(found, key=lambda run: run.path)


def unclosed_sentence(name: str, status: dict[str, Any]) -> str:
    """Return the sentence that says what is missing because a writer never closed.

    Args:
        name: Name of the writer.
        status: What it said of itself; empty if it could not say anything.
    """
    lost = "" if status.get("faults") else " At most its last second is missing." if status else " It left no word."
    return f"The writer {name} did not close its part of the run.{lost}"


def require_at_rest(path: Path) -> None:
    """Refuse to touch a run whose writers are still at work: they would go on writing into whatever replaces it.

    Raises:
        RadixflowError: The run is being recorded (exit code OUTPUT).
    """
    try:
        run = RunDirectory(path)
        living = run.living_writers()
        is_recent = run.state == "recording"
    except RadixflowError:  # of another format version, or broken
        return
    if living:
        sentence = f"The run in {path} is being recorded: its writer {living[0]} lives; it is left alone."
        raise RadixflowError(sentence, ExitCode.OUTPUT)
    if is_recent:
        sentence = f"The run in {path} is being recorded, or was {STALE_SECONDS:.0f} seconds ago; it is left alone."
        raise RadixflowError(sentence, ExitCode.OUTPUT)


def _make_room(path: Path, force: bool) -> None:
    if not path.is_dir() or not any(path.iterdir()):
        return
    if not is_run(path):
        raise RadixflowError(f"{path} exists and is not a run; it is left alone.", ExitCode.OUTPUT)
    if not force:
        raise RadixflowError(f"A run exists already in {path}; --force replaces it.", ExitCode.OUTPUT)
    require_at_rest(path)
    # Renamed first: a removal that is interrupted leaves no half of a run under the old name.
    doomed = path.with_name(f".removed-{os.getpid()}-{path.name}")
    path.rename(doomed)
    shutil.rmtree(doomed)


_WRITER_KINDS = {
    "policy_effective?": TEXT, "block_size?": INTEGER, "rows_written": COUNTS, "drops": COUNTS, "faults": TEXTS,
    "closed": FLAG, "sampling.rounds_fraction": NUMBER, "sampling.counts": COUNTS,
}  # fmt: skip


def _read_writer(path: Path) -> dict[str, Any]:
    name = f"{WRITERS_FOLDER}/{path.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return {"faults": [f"{name} cannot be read: {error}."]}
    if not isinstance(content, dict):
        return {"faults": [f"{name} is not a JSON object."]}
    wrong = list(misfits(content, _WRITER_KINDS))
    return {"faults": [f"{name}: {misfit}." for misfit in wrong]} if wrong else content
