"""Ctrl-C and a termination request stop a recording cleanly, once."""

import signal
from types import FrameType, TracebackType
from typing import Any


class Interruption:
    """While active, the first SIGINT or SIGTERM raises KeyboardInterrupt; later ones leave the clean-up alone."""

    def __init__(self) -> None:
        self.has_happened = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interruption":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.has_happened:
            self.has_happened = True
            raise KeyboardInterrupt
