"""Which runs there are: read from the manifests alone, so that a folder with many long runs is listed at once."""

from pathlib import Path
from typing import NamedTuple

from radixflow.app.arms import is_state_ready
from radixflow.schema.errors import RadixflowError
from radixflow.schema.run_directory import RunDirectory, find_runs


class RunChoice(NamedTuple):
    """One run that can be opened.

    Attributes:
        path: Its folder.
        stream: Experiment and stream, as ``experiment / stream``; runs of one stream are paired arms.
        policy: Policy asked for.
        experiment: Name of the experiment alone.
    """

    path: str
    stream: str
    policy: str
    experiment: str


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
            manifest = run.manifest
        except RadixflowError as error:
            faults.append(str(error))
            continue
        stream = f"{manifest.experiment} / {manifest.stream}"
        choices.append(RunChoice(str(run.path), stream, manifest.policy, manifest.experiment))
    return Catalog(sorted(choices, key=lambda choice: (choice.stream, _family(choice.policy), choice.path)), faults)


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
