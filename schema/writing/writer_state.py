"""Where a writer is in its life, as one value, and which steps there are from one to another."""

import threading
from enum import Enum, auto


class WriterState(Enum):
    """Where a writer is in its life."""

    OPEN = auto()
    """It takes rows and writes them."""
    ENDING = auto()
    """It takes no more rows, and writes those that wait."""
    CLOSED = auto()
    """Every row that it took is written: the recording is whole."""
    ENDED_EARLY = auto()
    """What it records went on without it. It takes no more rows and writes those that wait; it is never CLOSED."""
    STOPPED_BY_FAULT = auto()
    """The disk failed, or the writing did. What waited in memory is lost."""
    NAME_TAKEN = auto()
    """Another process writes to the run under the same name, so that not even the status may be written."""
    SILENT_CHILD = auto()
    """This is the copy in a forked child. The writing is the parent's."""

    @property
    def is_given_up(self) -> bool:
        """Whether nothing that waits will be written any more."""
        return self in (WriterState.STOPPED_BY_FAULT, WriterState.NAME_TAKEN, WriterState.SILENT_CHILD)

    @property
    def owns_its_files(self) -> bool:
        """Whether the files of this name are this process's, so that it may write its status."""
        return self not in (WriterState.NAME_TAKEN, WriterState.SILENT_CHILD)


_FAILURES = {WriterState.STOPPED_BY_FAULT, WriterState.SILENT_CHILD}
NEXT_STATES: dict[WriterState, frozenset[WriterState]] = {
    WriterState.OPEN: frozenset({WriterState.ENDING, WriterState.ENDED_EARLY, WriterState.NAME_TAKEN, *_FAILURES}),
    WriterState.ENDING: frozenset({WriterState.CLOSED, WriterState.ENDED_EARLY, *_FAILURES}),
    WriterState.CLOSED: frozenset({WriterState.ENDED_EARLY, *_FAILURES}),  # its last words may fail after that
    WriterState.ENDED_EARLY: frozenset(_FAILURES),
    WriterState.STOPPED_BY_FAULT: frozenset({WriterState.SILENT_CHILD}),
    WriterState.NAME_TAKEN: frozenset({WriterState.SILENT_CHILD}),
    WriterState.SILENT_CHILD: frozenset(),
}
"""The states that may follow each state."""


class WriterLife:
    """The present state of a writer. Several threads may change it; every other step than those above is refused."""

    def __init__(self) -> None:
        self.state = WriterState.OPEN
        self._lock = threading.Lock()

    def become(self, state: WriterState) -> bool:
        """Go on to another state, if it may follow the present one.

        Returns:
            Whether it did. Of several threads that ask for the same step, one gets True.
        """
        with self._lock:
            if state not in NEXT_STATES[self.state]:
                return False
            self.state = state
            return True

    def become_silent_child(self) -> None:
        """Go on to SILENT_CHILD, in a forked child: a thread that is not there may have held the lock."""
        self._lock = threading.Lock()
        self.state = WriterState.SILENT_CHILD
