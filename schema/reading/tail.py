"""Follows a run that is being recorded by reading only its new segments, so that its length does not matter."""

from collections.abc import Iterable
from pathlib import Path

import duckdb

from radixflow.schema.reading.connection import open_nothing, show_segments
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.run_files.segment_names import SegmentName
from radixflow.schema.segments.footers import Segment, read_segment
from radixflow.schema.tables import ALL_TABLES

_FOLLOWED = "rounds"
_ORIGIN = "schedule_start_ns"
BACKLOG = 60
"""How many of the latest segments are read at the first look; a writer makes about one a second."""


class RunTail:
    """Follows the rounds of one run.

    Only the first look lists the folder of segments; afterwards the next number of each writer is asked for, and the
    folder is listed once more when the recording has ended, since its last segments may have been merged.

    Attributes:
        connection: Tables and views of the schema, in which ``rounds`` holds the rounds of the newest segments alone;
            every other table of a run is empty.

    Args:
        path: The run directory.

    Raises:
        RadixflowError: It is no run that can be read.
    """

    def __init__(self, path: Path | str) -> None:
        self.run = RunDirectory(path)
        self.manifest = self.run.manifest
        self.connection: duckdb.DuckDBPyConnection = open_nothing()
        self._next: dict[str, int] = {}
        self._has_ended = False
        self._insert_run()

    def look(self) -> bool:
        """Put the rows of the segments written since the last look into ``rounds``; return whether there are any."""
        state = self.run.state
        if not self._next or (state != "recording" and not self._has_ended):
            found = self._listed()
            self._has_ended = state != "recording"
        else:
            found = list(self._following())
        segments = [each for each in map(self._read, found) if not each.fault]
        show_segments(self.connection, _FOLLOWED, {0: segments})
        return bool(segments)

    def _listed(self) -> list[Path]:
        """List the folder; the first time only the newest segments count."""
        named = [(name, path) for path in self.run.segments(_FOLLOWED) if (name := SegmentName.parse(path.name))]
        named = [(name, path) for name, path in named if name.last >= self._next.get(name.writer, 0)]
        if named and not self._next:
            self._set_origin(named[0][1])
            named = sorted(named, key=lambda each: each[0].last)[-BACKLOG:]
        for name, _ in named:
            self._next[name.writer] = max(self._next.get(name.writer, 0), name.last + 1)
        return [path for _, path in named]

    def _following(self) -> Iterable[Path]:
        for writer in self._next:
            while (path := self._path(writer)).exists():
                self._next[writer] += 1
                yield path

    def _path(self, writer: str) -> Path:
        number = self._next[writer]
        return self.run.path / _FOLLOWED / str(SegmentName(writer, number, number))

    def _read(self, path: Path) -> Segment:
        return read_segment(path, ALL_TABLES[_FOLLOWED], _ORIGIN)

    def _set_origin(self, path: Path) -> None:
        self.connection.execute("UPDATE opened_runs SET origin_ns = $origin", {"origin": self._read(path).minimum})

    def _insert_run(self) -> None:
        manifest = self.manifest
        facts = {
            "run": 0, "policy": manifest.policy, "experiment": manifest.experiment, "stream": manifest.stream,
            "engine_kind": manifest.engine_kind, "probe": manifest.probe, "created_utc": manifest.created_utc,
            "row_capacity": manifest.engine_arguments.get("max_num_seqs"), "run_id": manifest.run_id,
        }  # fmt: skip
        names, marks = ", ".join(facts), ", ".join("?" * len(facts))
        self.connection.execute(f"INSERT INTO opened_runs ({names}) VALUES ({marks})", list(facts.values()))
