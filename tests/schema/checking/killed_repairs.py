"""Repairs copies of a run, each killed one step later than the one before: ``python killed_repairs.py FOLDER [MODE]``.

A step is a change of the file system that Python's audit hooks see, right before it happens. ``FOLDER/0`` holds the
run; the copies get the names 1, 2, ... The last line is the number of the copy whose repair came to its end. The mode
``careless`` merges segments carelessly: the tests must find what that loses.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from radixflow.schema.checking import repair
from radixflow.schema.segments import compaction
from radixflow.schema.segments.encoding import write_segment

CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")


def kill_before(step: int) -> None:
    """Kill this process right before its ``step``-th change of the file system, from 1."""
    num_changes = 0

    def count(event: str, _: object) -> None:
        nonlocal num_changes
        num_changes += event in CHANGES
        if num_changes == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def merge_carelessly() -> None:
    """Let a merge remove its parts before the merged file has its name."""

    def careless(path: Path, table: object, durable: bool, is_merged: bool) -> None:
        for part in path.parent.glob("*.parquet"):
            part.unlink()
        write_segment(path, table, durable, is_merged)

    compaction.write_segment = careless


def main(folder: Path, mode: str) -> None:
    """Fork a child for each step, until one comes to its end."""
    if mode == "careless":
        merge_carelessly()
    for step in range(1, 1000):
        copy = folder / str(step)
        shutil.copytree(folder / "0", copy)
        child = os.fork()
        if child == 0:
            kill_before(step)
            repair.repair_run(copy)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            print(step)
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:] or ["careful"])
