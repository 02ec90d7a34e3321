"""Ctrl-C, a termination request or a closed terminal stop a recording cleanly, once."""

import signal
import time
from types import FrameType, TracebackType
from typing import Any

CLEAN_UP_SECONDS = 60.0
"""Seconds for which further interruptions are ignored, so that the clean-up after the first one can finish."""


class Interruption:
    """While active, the first SIGINT, SIGTERM or SIGHUP raises KeyboardInterrupt; later ones are ignored for a while.

    Should the clean-up hang, a later one interrupts that as well.
    """

    def __init__(self) -> None:
        self.has_happened = False
        self._happened_at = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interruption":
        numbers = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup sets it
            numbers.append(signal.SIGHUP)
        for number in numbers:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def require_none(self) -> None:
        """Raise the interruption again if there was one and some code in between has caught and dropped it.

        Raises:
            KeyboardInterrupt: there was one.
        """
        if self.has_happened:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.has_happened or now - self._happened_at > CLEAN_UP_SECONDS:
            self.has_happened, self._happened_at = True, now
            raise KeyboardInterrupt
