"""What a writer says of itself, and the file of the run in which it does."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from radixflow.schema.run_files.atomic_files import write_json_atomically
from radixflow.schema.run_files.run_directory import WRITERS_FOLDER


class WriterStatus:
    """The file ``writers/<writer>.json`` of a run: facts that others gave, then what the writer counts itself.

    Args:
        run_path: The run directory.
        writer_name: Name of the writer in the run.
        counts: Asked for what the writer counts (JSON values) whenever the status is read or written.
    """

    def __init__(self, run_path: Path, writer_name: str, counts: Callable[[], dict[str, Any]]) -> None:
        self._folder = run_path / WRITERS_FOLDER
        self._writer_name = writer_name
        self._counts = counts
        self._facts: dict[str, Any] = {}
        self._fact_source: Callable[[], dict[str, Any]] = dict
        self._lock = threading.Lock()

    def describe(self, **facts: Any) -> None:
        """Add facts (JSON values)."""
        with self._lock:
            self._facts.update(facts)

    def describe_by(self, source: Callable[[], dict[str, Any]]) -> None:
        """Ask ``source`` for more such facts whenever they are written: for facts that change with every round."""
        self._fact_source = source

    def as_dict(self) -> dict[str, Any]:
        """What the file would say now."""
        with self._lock:
            facts = {"writer": self._writer_name, "pid": os.getpid(), **self._facts}
        return {**facts, **self._fact_source(), **self._counts()}

    def write(self, durable: bool = False) -> None:
        """Write the file, whole or not at all; ``durable`` if it must survive a power cut.

        Raises:
            OSError: The run is gone, or the disk is full or not writable.
            TypeError: A fact is no JSON value.
            ValueError: The same.
        """
        self._folder.mkdir(exist_ok=True)
        write_json_atomically(self._folder / f"{self._writer_name}.json", self.as_dict(), durable)

    def renew_lock(self) -> None:
        """In a forked child: a thread that is not there may have held the lock."""
        self._lock = threading.Lock()
