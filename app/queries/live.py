"""The last rounds of a run that is being recorded, kept while new ones come in."""

from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from radixflow.app.queries.reading import read_here
from radixflow.app.queries.run_catalog import refuse_links_outside
from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.tail import RunTail
from radixflow.schema.run_files.run_directory import RunDirectory, find_runs

KEPT_ROUNDS = 400
"""Rounds that the rolling timeline holds."""
HELD_FOR_LONG_NS = 1_000_000_000
"""What an admission rule holds for so long is told; it is meant to hold requests for some milliseconds."""
_CLASSES = """
SELECT run, round AS first_round, round AS last_round, start_ms, end_ms, slot_class, NULL::VARCHAR AS cause, mean_rows
FROM (UNPIVOT (SELECT run, round, start_ms, end_ms, COLUMNS('^rows_(.*)$')::DOUBLE AS '\\1' FROM round_ends
               WHERE round > $after)
      ON COLUMNS(* EXCLUDE (run, round, start_ms, end_ms)) INTO NAME slot_class VALUE mean_rows)
WHERE mean_rows > 0 AND slot_class <> 'no_work' ORDER BY first_round
"""
_TRACKS = """
SELECT run, round AS first_round, round AS last_round, start_ms, end_ms, tokens_scheduled::DOUBLE AS tokens_scheduled,
       token_budget, num_waiting_before, num_held, row_capacity, rows_no_work, rows_avoidable, tokens_avoidable
FROM round_ends WHERE round > $after ORDER BY round
"""


class RollingRounds(NamedTuple):
    """The last rounds of a run.

    Attributes:
        raster: One row a round and class of slot, as ``slot_raster.slot_sums`` gives them.
        tracks: One row a round, as ``slot_raster.round_tracks`` gives them, with what ``bubble_totals`` adds up.
        totals: The row of ``bubble_totals`` over these rounds.
        last_round: Number of the last round; 0 before the first.
    """

    raster: pa.Table
    tracks: pa.Table
    totals: pa.Table
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
        self.rounds = self._rolling(self._read(_CLASSES, 0), self._read(_TRACKS, 0))

    def is_of(self, path: str) -> bool:
        """Say whether the folder still holds the run that is followed, and not another that has replaced it."""
        return self.path == path and self.tail.manifest.run_id == RunDirectory(path).manifest.run_id

    @property
    def state(self) -> str:
        """``recording``, ``complete`` or ``incomplete``, as it is now."""
        return self.tail.run.state

    @property
    def stall(self) -> dict[str, Any] | None:
        """What the engine says of the steps without work that it makes now; None where it waits for nothing else.

        It is not a stall in this sense when the output of a round is on its way, nor, for a second, when an admission
        rule holds the requests: both are meant to be.
        """
        for status in self.tail.run.writers().values():
            stall = status.get("stall")
            if isinstance(stall, dict) and not stall.get("num_rounds_in_flight"):
                is_held = stall.get("stop_cause") == "held"
                if not is_held or stall["said_ns"] - stall["start_ns"] >= HELD_FOR_LONG_NS:
                    return stall
        return None

    def look(self) -> RollingRounds:
        """Read the rounds recorded since the last call, and return the last ``KEPT_ROUNDS`` rounds."""
        if self.tail.look():
            kept = self.rounds
            raster, tracks = (
                pa.concat_tables([old, self._read(sql, kept.last_round)])
                for sql, old in ((_CLASSES, kept.raster), (_TRACKS, kept.tracks))
            )
            self.rounds = self._rolling(raster, tracks)
        return self.rounds

    def _rolling(self, raster: pa.Table, tracks: pa.Table) -> RollingRounds:
        last = pc.max(tracks["first_round"]).as_py() or 0
        tracks = _last(tracks, last)
        return RollingRounds(_last(raster, last), tracks, self._totals(tracks), last)

    def _totals(self, tracks: pa.Table) -> pa.Table:
        """Let the view add up the rounds that are kept: for the time of the question there are no others for it."""
        cursor = self.tail.connection.cursor()
        try:
            cursor.register("round_ends", tracks)
            return read_here(cursor, "SELECT * FROM bubble_totals")
        finally:
            cursor.close()

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
