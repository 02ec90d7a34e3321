"""Merges many small segments into few: a query opens every file of a table, so a file a second would make it slow."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from radixflow.schema.run_files.segment_names import SegmentName, without_merged
from radixflow.schema.segments.encoding import write_segment
from radixflow.schema.segments.footers import read_segment

MERGED_ROWS = 1_000_000
"""Most rows of a merged file. Fewer, larger files are quicker to query, since each query opens every file."""


def compact_segments(folder: Path, writer_name: str, schema: pa.Schema, durable: bool = True) -> None:
    """Merge consecutive small segments of one writer in the folder of a table.

    A merged file is complete before the segments in it are removed, and its name says which they are, so readers never
    count a row twice and a kill at any moment loses nothing. What cannot be merged stays as it is.

    Args:
        folder: Folder of the table.
        writer_name: Writer whose segments are merged; it must not be writing any more.
        schema: Declared schema of the table.
        durable: Whether the merged files must survive a power cut.
    """
    with suppress(OSError, pa.ArrowException):  # the run is whole without this
        for names in list(_groups(folder, writer_name, schema)):
            paths = [folder / str(name) for name in names]
            table = pa.concat_tables([pq.read_table(path) for path in paths]).unify_dictionaries().combine_chunks()
            merged = SegmentName(writer_name, names[0].first, names[-1].last)
            write_segment(folder / str(merged), table.replace_schema_metadata(schema.metadata), durable, is_merged=True)
            for path in paths:
                path.unlink()


def _groups(folder: Path, writer_name: str, schema: pa.Schema) -> Iterator[list[SegmentName]]:
    """Yield runs of neighbours that fit into one merged file, two at least; a broken or big segment ends a run."""
    group: list[SegmentName] = []
    num_rows = 0
    for path in without_merged(sorted(folder.glob(f"{writer_name}-*.parquet"))):
        name, segment = SegmentName.parse(path.name), read_segment(path, schema)
        if name is None or name.writer != writer_name:
            continue
        fits = not segment.fault and num_rows + segment.num_rows <= MERGED_ROWS
        if group and not (fits and name.first == group[-1].last + 1):
            if len(group) > 1:
                yield group
            group, num_rows = [], 0
        if not segment.fault:
            group.append(name)
            num_rows += segment.num_rows
    if len(group) > 1:
        yield group
