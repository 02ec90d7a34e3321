"""The start of an engine can be interrupted, although vLLM swallows a KeyboardInterrupt in it."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupted(BaseException):
    """Stands for a KeyboardInterrupt where one would be caught by others."""


@contextmanager
def interruptible_start() -> Iterator[None]:
    """Context in which a KeyboardInterrupt reaches the caller, although vLLM catches it while it starts its engine.

    While vLLM waits for its engine process (``zmq_socket_ctx``; 0.32.0), it drops a KeyboardInterrupt and goes on. The
    engine process, which a terminal interrupts as well, ends, and vLLM waits for it for ten minutes, or the recording
    begins as if nobody had wanted to stop it.

    Raises:
        KeyboardInterrupt: interrupted, even where the exception itself was lost.
    """
    happened: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    ours = {number: _disguised(handler, happened) for number, handler in before.items() if callable(handler)}
    for number, handler in ours.items():
        signal.signal(number, handler)
    try:
        yield
    except _Interrupted as error:
        raise KeyboardInterrupt from error
    finally:
        for number in ours:
            signal.signal(number, before[number])
    if happened:
        raise KeyboardInterrupt


def _disguised(handler: Callable[..., Any], happened: list[int]) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except KeyboardInterrupt as error:
            happened.append(number)
            raise _Interrupted from error

    return handle
