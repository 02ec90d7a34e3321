"""Which runs there are: read from the manifests alone, so that a folder with many long runs is listed at once."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from radixflow.app.arms import is_state_ready
from radixflow.schema.errors import RadixflowError
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory, find_runs


class RunChoice(NamedTuple):
    """One run that can be opened.

    Attributes:
        path: Its folder.
        stream: Experiment and stream, as ``experiment / stream``; runs of one stream are paired arms.
        policy: Policy asked for.
        experiment: Name of the experiment alone.
        dataset: Dataset or generator of its stream; empty if the manifest does not say.
        regime: Reuse regime of its stream.
        order: Input order of its stream.
    """

    path: str
    stream: str
    policy: str
    experiment: str
    dataset: str = ""
    regime: str = ""
    order: str = ""


class Catalog(NamedTuple):
    """The runs below one folder.

    Attributes:
        choices: Runs that can be opened, sorted by stream and path.
        faults: A sentence for each folder that looks like a run and cannot be opened.
    """

    choices: list[RunChoice]
    faults: list[str]


def list_runs(root: str) -> Catalog:
    """List the runs below a folder; a missing folder has none."""
    choices: list[RunChoice] = []
    faults: list[str] = []
    try:
        found = find_runs(root)
    except RadixflowError:
        found = []
    for run in found:
        try:
            refuse_links_outside(run.path, Path(root))
            manifest = run.manifest
        except RadixflowError as error:
            faults.append(str(error))
            continue
        choices.append(_choice(str(run.path), manifest))
    return Catalog(sorted(choices, key=lambda choice: (choice.stream, _family(choice.policy), choice.path)), faults)


def _choice(path: str, manifest: Manifest) -> RunChoice:
    facts = (str(manifest.workload.get(name) or "") for name in ("name", "regime", "input_order"))
    stream = f"{manifest.experiment} / {manifest.stream}"
    return RunChoice(path, stream, manifest.policy, manifest.experiment, *facts)


def refuse_links_outside(run: Path, root: Path) -> None:
    """Refuse a run that would have the app read files outside the folder that it was started on.

    Raises:
        RadixflowError: A file or folder of the run is a link to a place outside ``root``.
    """
    allowed = root.resolve()
    for entry in _entries(run):
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(allowed):
            raise RadixflowError(f"{entry.path} is a link to a place outside {root}; its run is not opened.")


def _entries(folder: Path | str, depth: int = 2) -> Iterator[os.DirEntry[str]]:
    """Walk through what a run consists of: its files, its tables, and their segments."""
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError:  # removed since it was listed
        return
    for entry in entries:
        yield entry
        if depth > 1 and entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path, depth - 1)


def fingerprint(paths: tuple[str, ...]) -> str:
    """Summarise which files the runs consist of now, so that what was read is read again when a recording grows."""
    parts: list[str] = []
    for path in paths:
        files = [entry for entry in Path(path).glob("*/*") if entry.suffix in (".parquet", ".json")]
        newest = max((entry.stat().st_mtime_ns for entry in files if entry.suffix == ".parquet"), default=0)
        parts.append(f"{len(files)}:{newest}:{RunDirectory(path).state}")
    return "|".join(parts)


def experiment_of(choices: list[RunChoice], path: str) -> list[RunChoice]:
    """Return the runs of the experiment that a run belongs to, over all its streams."""
    names = {choice.experiment for choice in choices if choice.path == path}
    return [choice for choice in choices if choice.experiment in names]


def _family(policy: str) -> tuple[bool, str]:
    """Order prefix-stop arms before state-ready ones: a comparison reads from what is to what could be."""
    return is_state_ready(policy), policy


def default_arms(arms: list[str]) -> list[str]:
    """Choose the pair to look at first: the first prefix-stop arm and the first state-ready one, else the first two."""
    stop = [arm for arm in arms if not is_state_ready(arm)]
    ready = [arm for arm in arms if is_state_ready(arm)]
    return [stop[0], ready[0]] if stop and ready else arms[:2]
