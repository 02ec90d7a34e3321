"""What a run consists of at one moment: manifest, writers, usable segments, faults; and a digest of all of it."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.segments.footers import Segment, read_segment
from radixflow.schema.tables import ALL_TABLES

Fault = tuple[str, str, str]
"""Table, file name and sentence of a segment that cannot be used, or of rows that are missing."""
_ORIGIN_COLUMNS = {"rounds": "schedule_start_ns", "stalls": "start_ns"}
"""Table to the column of the time at which what its rows say began."""


@dataclass(frozen=True)
class RunContent:
    """What was found in one run directory.

    Attributes:
        manifest: The manifest.
        writers: What each writer says of itself.
        segments: The usable segments of each table.
        faults: What is left out, or missing.
        state: ``complete``, ``recording`` or ``incomplete``.
    """

    manifest: Manifest
    writers: dict[str, dict[str, Any]]
    segments: dict[str, list[Segment]]
    faults: list[Fault]
    state: str

    @property
    def origin_ns(self) -> int | None:
        """When the first round began (monotonic nanoseconds), read from the statistics in the files' footers.

        In a run without any round, when its first stall began.
        """
        for table in _ORIGIN_COLUMNS:
            found = [each.minimum for each in self.segments[table] if each.minimum is not None]
            if found:
                return min(found)
        return None

    @property
    def version(self) -> tuple[str | None, int]:
        """The digest of the content, and the number of rows in all tables together."""
        return self.digest, sum(segment.num_rows for found in self.segments.values() for segment in found)

    @cached_property
    def digest(self) -> str | None:
        """Digest of everything that a number of the run depends on; None while that may still change.

        Of a segment counts its name, its size, when it was last written, and its footer (places, sizes and statistics
        of all column chunks). A run that is being recorded, was broken off, or lost a segment has none.
        """
        if self.state != "complete" or self.faults:
            return None
        said = json.dumps([self.manifest.to_json(), self.writers], sort_keys=True, default=str)
        parts = [f"{table}/{each.path.name} {each.digest}" for table, found in self.segments.items() for each in found]
        return hashlib.blake2b("\n".join([said, *parts]).encode(), digest_size=20).hexdigest()


def read_content(run: RunDirectory, manifest: Manifest) -> RunContent:
    """Read what a run consists of at this moment: which files there are, and what their footers say."""
    writers = run.writers()  # before the segments: a writer at work counts a segment after it has written it
    segments: dict[str, list[Segment]] = {}
    faults: list[Fault] = []
    for table in ALL_TABLES:
        found = [_read_once(path, table) for path in run.segments(table)]
        bad = [each for each in found if each.fault]
        segments[table] = [each for each in found if not each.fault]
        faults += [(table, each.path.name, f"{each.path.name} {each.fault}") for each in bad]
        faults += _missing_rows(table, writers, segments[table], bad)
    return RunContent(manifest, writers, segments, faults, run.state)


def _read_once(path: Path, table: str) -> Segment:
    """Read a footer, or remember it: a run that is followed while it grows is opened again and again."""
    try:
        status = path.stat()
    except OSError:
        return read_segment(path, ALL_TABLES[table], _ORIGIN_COLUMNS.get(table))
    return _read_version(path, table, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=50_000)
def _read_version(path: Path, table: str, *_version: int) -> Segment:
    return read_segment(path, ALL_TABLES[table], _ORIGIN_COLUMNS.get(table))


def _missing_rows(
    table: str, writers: dict[str, dict[str, Any]], good: list[Segment], bad: list[Segment]
) -> list[Fault]:
    """Name what a writer says that it wrote and that is not there, unless a broken segment explains it."""
    faults = []
    for name, status in writers.items():
        written = status.get("rows_written", {}).get(table, 0)
        found = sum(segment.num_rows for segment in good if segment.writer == name)
        if found < written and not any(segment.writer == name for segment in bad):
            sentence = f"{written - found} of {written} rows of {table} that {name} wrote are missing."
            faults.append((table, f"{name}-*.parquet", sentence))
    return faults
