"""The writers of this process that have not ended: closed when it ends, silenced in the children that it forks."""

import atexit
import os
import time
import weakref
from typing import Protocol

CLOSING_SECONDS = 10.0
"""Time that the end of the process leaves to all writers together."""


class LiveWriter(Protocol):
    """A writer with a thread of its own."""

    def close(self, timeout: float = ...) -> bool:
        """Write what waits and end, for so many seconds at most."""

    def become_silent(self) -> None:
        """Write nothing any more: this is the copy in a forked child."""


_LIVE_WRITERS: "weakref.WeakSet[LiveWriter]" = weakref.WeakSet()


def add(writer: LiveWriter) -> None:
    """Look after a writer from now on."""
    _LIVE_WRITERS.add(writer)


def discard(writer: LiveWriter) -> None:
    """A writer has ended; harmless if it is not known."""
    _LIVE_WRITERS.discard(writer)


def close_all() -> None:
    """Close every writer that has not ended, as the end of the process does."""
    deadline = time.monotonic() + CLOSING_SECONDS
    for writer in list(_LIVE_WRITERS):
        writer.close(max(0.0, deadline - time.monotonic()))


def _silence_in_child() -> None:
    for writer in list(_LIVE_WRITERS):
        writer.become_silent()
    _LIVE_WRITERS.clear()


os.register_at_fork(after_in_child=_silence_in_child)
atexit.register(close_all)
