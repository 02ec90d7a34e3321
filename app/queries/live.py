"""The last rounds of a run that is being recorded, kept while new ones come in."""

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from radixflow.app.queries.reading import read_here
from radixflow.app.queries.run_catalog import refuse_links_outside
from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.tail import RunTail
from radixflow.schema.run_files.run_directory import RunDirectory, find_runs

KEPT_ROUNDS = 400
"""Rounds that the rolling timeline holds."""
_CLASSES = """
SELECT * FROM (
SELECT run, round AS first_round, round AS last_round, start_ms, end_ms,
       unnest(['used', 'avoidable', 'dependency_wait', 'held', 'token_limited', 'other']) AS slot_class,
       NULL::VARCHAR AS cause,
       unnest([rows_used, rows_avoidable, rows_dependency_wait, rows_held, rows_token_limited, rows_other])::DOUBLE
           AS mean_rows
FROM round_occupancy WHERE round > $after) WHERE mean_rows > 0 ORDER BY first_round
"""
_TRACKS = """
SELECT run, round AS first_round, round AS last_round, start_ms, end_ms, tokens_scheduled::DOUBLE AS tokens_scheduled,
       token_budget, num_waiting_before, num_held, rows_avoidable
FROM round_occupancy WHERE round > $after ORDER BY round
"""


class RollingRounds(NamedTuple):
    """The last rounds of a run.

    Attributes:
        raster: One row a round and class of slot, as ``slot_raster.slot_sums`` gives them.
        tracks: One row a round, as ``slot_raster.round_tracks`` gives them, with ``rows_avoidable``.
        last_round: Number of the last round; 0 before the first.
    """

    raster: pa.Table
    tracks: pa.Table
    last_round: int


class LiveRun:
    """One followed run and its last rounds.

    Args:
        path: Run directory.
        root: Folder of runs; a run with links to outside of it is not followed.

    Raises:
        RadixflowError: It cannot be read, or holds such a link.
    """

    def __init__(self, path: str, root: str) -> None:
        refuse_links_outside(Path(path), Path(root))
        self.path = path
        self.tail = RunTail(path)
        self.runs = read_here(self.tail.connection, "SELECT * FROM runs")
        self.rounds = RollingRounds(self._read(_CLASSES, 0), self._read(_TRACKS, 0), 0)

    def is_of(self, path: str) -> bool:
        """Say whether the folder still holds the run that is followed, and not another that has replaced it."""
        return self.path == path and self.tail.manifest.run_id == RunDirectory(path).manifest.run_id

    @property
    def state(self) -> str:
        """``recording``, ``complete`` or ``incomplete``, as it is now."""
        return self.tail.run.state

    def look(self) -> RollingRounds:
        """Read the rounds recorded since the last call, and return the last ``KEPT_ROUNDS`` rounds."""
        if self.tail.look():
            kept = self.rounds
            raster, tracks = (
                pa.concat_tables([old, self._read(sql, kept.last_round)])
                for sql, old in ((_CLASSES, kept.raster), (_TRACKS, kept.tracks))
            )
            last = pc.max(tracks["first_round"]).as_py() or 0
            self.rounds = RollingRounds(_last(raster, last), _last(tracks, last), last)
        return self.rounds

    def _read(self, sql: str, after: int) -> pa.Table:
        return read_here(self.tail.connection, sql, after=after)


def _last(table: pa.Table, last: int) -> pa.Table:
    return table.filter(pc.greater(table["first_round"], last - KEPT_ROUNDS)).combine_chunks()


def recording_runs(root: str) -> list[str]:
    """List the runs below a folder that are being recorded now, the newest first."""
    try:
        found = find_runs(root)
    except RadixflowError:
        return []
    live = []
    for run in found:
        try:
            if run.state == "recording":
                live.append((run.manifest.created_utc, str(run.path)))
        except RadixflowError:  # of another format version, or broken
            continue
    return [path for _, path in sorted(live, reverse=True)]
