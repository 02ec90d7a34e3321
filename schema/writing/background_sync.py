"""Makes complete files survive a power cut, behind the back of their writer: a busy disk takes seconds for it."""

import queue
import threading
from collections.abc import Callable
from pathlib import Path

from radixflow.schema.run_files.atomic_files import sync


class BackgroundSync:
    """Syncs files and their folders in a thread of its own, in order.

    A process that is killed loses nothing of a file that has its name, synced or not; only a power cut does. So nobody
    waits for this, and rows reach the disk in time.

    Args:
        name: Name of the thread.
        on_fault: Called once with the first error, from that thread; nothing is synced after it.
    """

    def __init__(self, name: str, on_fault: Callable[[OSError], None]) -> None:
        self._on_fault = on_fault
        self._paths: queue.SimpleQueue[list[Path] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def add(self, paths: list[Path]) -> None:
        """Sync these files soon."""
        if paths:
            self._paths.put(paths)

    def end(self) -> None:
        """Sync what was added, and end; nobody waits. Calling it again is harmless."""
        self._paths.put(None)

    def finish(self) -> None:
        """Wait until everything that was added is synced, and end."""
        self.end()
        self._thread.join()

    def _run(self) -> None:
        try:
            while (paths := self._paths.get()) is not None:
                for path in [*paths, *{path.parent for path in paths}]:
                    sync(path)
        except OSError as error:
            self._on_fault(error)
