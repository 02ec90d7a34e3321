"""Rows that a repair makes of a run that was killed, in segments of their own."""

from pathlib import Path
from typing import Any

from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.run_files.segment_names import SegmentName
from radixflow.schema.segments.compaction import compact_segments
from radixflow.schema.segments.encoding import encode_rows, write_segment
from radixflow.schema.tables import ALL_TABLES

REPAIR_WRITER = "repair"
"""Writer name of the rows that a repair makes."""


def write_repaired_rows(run_path: Path, table: str, found: list[tuple[Any, ...]]) -> tuple[int, list[str]]:
    """Write rows of a table under the name of the repair.

    Args:
        run_path: The run directory.
        table: Name of the table.
        found: Its rows, in the order of its columns.

    Returns:
        How many rows were written, and a sentence for each that does not fit the table.

    Raises:
        OSError: The folder cannot be written.
    """
    schema = ALL_TABLES[table]
    rows, misfits = encode_rows(found, schema)
    if rows.num_rows:
        folder = run_path / table
        folder.mkdir(exist_ok=True)
        names = [SegmentName.parse(path.name) for path in folder.glob(f"{REPAIR_WRITER}-*.parquet")]
        number = max((name.last for name in names if name), default=-1) + 1
        write_segment(folder / str(SegmentName(REPAIR_WRITER, number, number)), rows)
        compact_segments(folder, REPAIR_WRITER, schema)
    return rows.num_rows, misfits


def open_stalls(run: RunDirectory) -> list[tuple[Any, ...]]:
    """Rows of the stalls that went on when their writers were killed, as their last status said of them.

    A stall is written when it ends; one whose row is there has ended between the last status and the death.
    """
    names = ALL_TABLES["stalls"].names
    said = [stall for status in run.writers().values() if isinstance(stall := status.get("stall"), dict)]
    if not said:
        return []
    with open_runs([run.path]) as connection:
        written = {start_ns for (start_ns,) in connection.execute("SELECT start_ns FROM stalls").fetchall()}
    return [tuple(stall.get(name) for name in names) for stall in said if stall.get("start_ns") not in written]
