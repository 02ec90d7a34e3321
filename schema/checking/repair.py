"""Mends a run whose recording was killed: what can be read stays, what cannot is moved aside, and the run says so."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from radixflow.schema.checking.repaired_rows import open_stalls, write_repaired_rows
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.atomic_files import TEMPORARY_PREFIX
from radixflow.schema.run_files.manifest import Manifest, read_manifest, utc_now, write_manifest
from radixflow.schema.run_files.run_directory import WRITERS_FOLDER, RunDirectory, require_at_rest, unclosed_sentence
from radixflow.schema.run_files.segment_names import SegmentName, without_merged
from radixflow.schema.run_files.writer_hold import hold_files
from radixflow.schema.segments.compaction import compact_segments
from radixflow.schema.segments.footers import decoding_fault, read_segment
from radixflow.schema.tables import ALL_TABLES

ASIDE_FOLDER = "set-aside"
"""Folder of a run that holds the files that cannot be read, each in the folder of its table."""


@dataclass
class Repair:
    """Sentences about what a repair changed and about what is lost; both are empty when the run was undamaged."""

    done: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def repair_run(path: Path | str) -> Repair:
    """Mend a run that was killed; a run without damage is left as it is.

    Every step leaves a run that can be read and repaired again, and the manifest is written last: a repair that is
    killed itself loses nothing. No segment is deleted but one whose rows a merged file holds.

    Args:
        path: Run directory.

    Raises:
        RadixflowError: The path is no run, it is being recorded or repaired, or it cannot be written (exit code
            OUTPUT).
    """
    run = RunDirectory(path)
    before = read_manifest(run.path)
    require_at_rest(run.path)
    repair = Repair()
    try:
        with _alone(run.path):
            for unfinished in run.unfinished_files():
                _settle_temporary(run.path, unfinished, repair)
            for table, schema in ALL_TABLES.items():
                _mend_table(run.path, table, schema, repair)
            _replay_requests(run.path, repair)
            _end_stalls(run, repair)
            _take_holds_away(run.path)
            _rewrite_manifest(run, before, repair)
    except OSError as error:
        raise RadixflowError(f"Cannot repair {run.path}: {error.strerror or error}.", ExitCode.OUTPUT) from error
    return repair


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder for one repair at a time; the kernel lets go of it with the process."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks
            _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RadixflowError(f"Another process is repairing {folder}.", ExitCode.OUTPUT) from error


def _settle_temporary(run_path: Path, path: Path, repair: Repair) -> None:
    """Keep a segment that was whole but for its name; remove any other file that was being written."""
    table, name = path.parent.name, path.name.removeprefix(TEMPORARY_PREFIX)
    final, segment = path.with_name(name), SegmentName.parse(name)
    is_single = segment is not None and segment.first == segment.last  # of a merged one, the parts are still there
    if is_single and table in ALL_TABLES and not final.exists() and _is_whole(path, ALL_TABLES[table]):
        path.rename(final)
        repair.done.append(f"{table}/{name} was whole but for its name and is kept.")
        return
    path.unlink(missing_ok=True)
    repair.done.append(f"{path.relative_to(run_path)}, a file that was being written, was removed.")


def _is_whole(path: Path, schema: pa.Schema) -> bool:
    return read_segment(path, schema).fault is None and decoding_fault(path) is None


def _mend_table(run_path: Path, table: str, schema: pa.Schema, repair: Repair) -> None:
    folder = run_path / table
    for path in sorted(folder.glob("*.parquet")):
        fault = decoding_fault(path)
        if fault is not None:
            target = _set_aside(run_path, path)
            repair.done.append(f"{table}/{path.name} {fault} It was moved to {target.relative_to(run_path)}.")
    before = sorted(folder.glob("*.parquet"))
    kept = without_merged(before)
    for path in before:
        if path not in kept:
            path.unlink(missing_ok=True)
    for writer in sorted({name.writer for path in kept if (name := SegmentName.parse(path.name))}):
        compact_segments(folder, writer, schema)
    after = sorted(folder.glob("*.parquet"))
    if len(after) < len(before):
        repair.done.append(f"{len(before)} segments of {table} were merged into {len(after)}.")


def _replay_requests(run_path: Path, repair: Repair) -> None:
    """Write the rows of ``requests`` whose writer was killed before these requests ended."""
    names = ", ".join(ALL_TABLES["requests"].names)
    with open_runs([run_path]) as connection:
        found = connection.execute(f"""
            SELECT {names} FROM replayed_requests
            WHERE request NOT IN (SELECT request FROM requests) ORDER BY request""").fetchall()
    num_rows, misfits = write_repaired_rows(run_path, "requests", found)
    repair.missing += misfits
    if num_rows:
        made = "had no end yet; their rows were made from what had happened to them."
        repair.done.append(f"{num_rows} requests {made}")


def _end_stalls(run: RunDirectory, repair: Repair) -> None:
    """Write the row of a stall in which the engine was killed."""
    num_rows, misfits = write_repaired_rows(run.path, "stalls", open_stalls(run))
    repair.missing += misfits
    if num_rows:
        repair.done.append("The recording was killed in a stall; its row was made from the last status.")


def _set_aside(run_path: Path, path: Path) -> Path:
    folder = run_path / ASIDE_FOLDER / path.parent.name
    folder.mkdir(parents=True, exist_ok=True)
    target, number = folder / path.name, 0
    while target.exists():
        number += 1
        target = folder / f"{path.name}.{number}"
    path.rename(target)
    return target


def _take_holds_away(run_path: Path) -> None:
    for path in hold_files(run_path / WRITERS_FOLDER):
        path.unlink(missing_ok=True)


def _rewrite_manifest(run: RunDirectory, before: Manifest, repair: Repair) -> None:
    """Say what is there and what is missing, unless the manifest says so already."""
    writers = run.writers()
    repair.missing += [*_unclosed(run), *_aside(run)]
    if before.state == "complete" and not (repair.missing or repair.done):
        return
    after = Manifest(**asdict(before))
    after.tables = _counts(run)
    said = [fault for status in writers.values() for fault in status.get("faults", [])]
    after.faults += [sentence for sentence in [*said, *repair.missing] if sentence not in after.faults]
    after.drops = before.drops or _sum([status.get("drops", {}) for status in writers.values()])
    after.sampling = writers.get("engine", {}).get("sampling", before.sampling)
    after.policy_effective = writers.get("engine", {}).get("policy_effective", before.policy_effective)
    after.state, after.finished_utc = "incomplete", before.finished_utc or _last_report(run)
    if after != before or repair.done:
        after.repaired_utc = utc_now()
        write_manifest(run.path, after)
        repair.done.append("The manifest was written anew: the run is incomplete and repaired.")


def _counts(run: RunDirectory) -> dict[str, int]:
    counts = {}
    for table, schema in ALL_TABLES.items():
        counts[table] = sum(read_segment(path, schema).num_rows for path in run.segments(table))
    return {table: count for table, count in counts.items() if count}


def _unclosed(run: RunDirectory) -> list[str]:
    return [unclosed_sentence(name, each) for name, each in run.writers().items() if not each.get("closed")]


def _aside(run: RunDirectory) -> list[str]:
    """What is missing for every file that was moved aside, now or by an earlier repair."""
    paths = [path.relative_to(run.path) for path in sorted((run.path / ASIDE_FOLDER).glob("*/*"))]
    return [f"The rows of {path.relative_to(ASIDE_FOLDER)} are missing; what is left is in {path}." for path in paths]


def _sum(counts: list[dict[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for each in counts:
        for table, count in each.items():
            totals[table] = totals.get(table, 0) + count
    return totals


def _last_report(run: RunDirectory) -> str | None:
    """When a writer last reported: the end of the recording, as far as anybody knows it."""
    times = [path.stat().st_mtime for path in (run.path / WRITERS_FOLDER).glob("*.json")]
    if not times:
        return None
    return datetime.fromtimestamp(max(times), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
