"""When a writer's thread writes, and what it does until then."""

import threading
import time
from collections.abc import Callable

LEAST_PAUSE_SECONDS = 0.05
"""A disk that is too slow for the flushes is left alone for this long between two."""
COLLECT_SECONDS = 0.1
"""Time between two calls of what makes rows in the writer's thread."""


class FlushPace:
    """Lets one thread wait for its next flush, and has rows made meanwhile.

    Args:
        flush_seconds: Longest time between two flushes.
        is_open: Whether rows are still taken; once they are not, none are made.
    """

    def __init__(self, flush_seconds: float, is_open: Callable[[], bool]) -> None:
        self._flush_seconds = flush_seconds
        self._is_open = is_open
        self._collect: Callable[[], None] | None = None
        self._next_flush = time.monotonic() + flush_seconds
        self._wake = threading.Event()
        self.wake = self._wake.set
        """End the present wait, or the next one if nobody waits."""

    def collect_by(self, collect: Callable[[], None]) -> None:
        """Call something several times a second while waiting, and before each wait ends; it must not raise."""
        self._collect = collect
        self.wake()  # so far, the thread has only looked at the next flush

    def wait(self) -> None:
        """Wait for the next flush or for :attr:`wake`; a flush that is late is not made up for by quicker ones."""
        pause = max(LEAST_PAUSE_SECONDS, self._next_flush - time.monotonic())
        while self._collect is not None and self._is_open():
            is_woken = self._wake.wait(min(pause, COLLECT_SECONDS))
            self._collect()
            pause = self._next_flush - time.monotonic()
            if is_woken or pause <= 0:
                break
        else:
            self._wake.wait(pause)
        self._wake.clear()
        self._next_flush = time.monotonic() + self._flush_seconds
