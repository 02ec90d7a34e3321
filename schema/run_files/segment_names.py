"""What the name of a segment says: which writer wrote it, and which numbers it holds."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_NAME = re.compile(r"(?P<writer>.+?)-(?P<first>\d{6,})(?:-(?P<last>\d{6,}))?\.parquet")


@dataclass(frozen=True)
class SegmentName:
    """``<writer>-<NNNNNN>.parquet``, or ``<writer>-<first>-<last>.parquet`` for segments that were merged into one.

    Attributes:
        writer: Name of the writer process.
        first: Number of the first segment in the file.
        last: Number of the last one; equal to ``first`` in a file that was not merged.
    """

    writer: str
    first: int
    last: int

    def __str__(self) -> str:
        numbers = f"{self.first:06d}" if self.first == self.last else f"{self.first:06d}-{self.last:06d}"
        return f"{self.writer}-{numbers}.parquet"

    @classmethod
    def parse(cls, file_name: str) -> "SegmentName | None":
        """Read a file name; None when it is not the name of a segment."""
        match = _NAME.fullmatch(file_name)
        if not match:
            return None
        return cls(match["writer"], int(match["first"]), int(match["last"] or match["first"]))


def without_merged(paths: Iterable[Path]) -> list[Path]:
    """Leave out segments that a merged file holds: both are there for a moment, and after a kill between the two."""
    listed = list(paths)
    named = [(name, path) for path in listed if (name := SegmentName.parse(path.name))]
    held: set[Path] = set()
    reach: dict[str, int] = {}  # writer to the last number in the merged files so far
    for name, path in sorted(named, key=lambda each: (each[0].first, -each[0].last)):
        if name.last <= reach.get(name.writer, -1):
            held.add(path)
        elif name.first < name.last:
            reach[name.writer] = name.last
    return [path for path in listed if path not in held] if held else listed
