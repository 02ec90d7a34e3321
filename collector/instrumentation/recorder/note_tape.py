"""The notes of the engine's thread, in order, until somebody makes rows of them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

MOST_NOTES = 1_000
"""Notes that may wait; where the writer's thread does not keep up, the engine's thread makes rows, too."""
_NOTES_AT_ONCE = 12
"""About what three rounds leave: enough to catch up without holding up a round."""

Note = tuple[Any, ...]
"""What makes rows of it, and the arguments for that."""


class NoteTape:
    """Notes are added at one end by the engine's thread and read at the other, in order, by one thread at a time.

    A note is read once. If reading one fails, those behind it are forgotten: they count on the one that failed.

    Args:
        after_reading: Called whenever some notes have been read, by the thread that read them.
        on_failure: Called with what a reading raised in the writer's thread, where nobody would catch it.

    Attributes:
        note: Adds a note; never waits, whoever is reading.
    """

    def __init__(self, after_reading: Callable[[], None], on_failure: Callable[[Exception], None]) -> None:
        self._notes: deque[Note] = deque()
        self._reading = threading.Lock()
        self._after_reading = after_reading
        self._on_failure = on_failure
        self.note: Callable[[Note], None] = self._notes.append  # itself: hooks call it many times a round

    def __len__(self) -> int:
        return len(self._notes)

    def read(self) -> None:
        """Read every note so far, after waiting for another reader.

        Raises:
            Exception: What the reading of a note raised.
        """
        with self._reading:
            self._read(len(self._notes))

    def keep_short(self) -> None:
        """Read a few notes if too many wait and nobody is reading: for the engine's thread, once a round.

        Raises:
            Exception: What the reading of a note raised.
        """
        if len(self._notes) > MOST_NOTES and self._reading.acquire(blocking=False):
            try:
                self._read(min(_NOTES_AT_ONCE, len(self._notes)))  # another reader may have been there since
            finally:
                self._reading.release()

    def read_for_writer(self) -> None:
        """Read every note so far, one at a time so that the engine's thread may go first; never raises."""
        try:
            with self._reading:
                for _ in range(len(self._notes)):
                    self._read(1)
                    time.sleep(0)  # the engine's thread may go first
        except Exception as error:
            self._on_failure(error)

    def _read(self, most: int) -> None:
        try:
            for _ in range(most):
                make, *arguments = self._notes.popleft()
                make(*arguments)
        except Exception:
            self._notes.clear()
            raise
        self._after_reading()
