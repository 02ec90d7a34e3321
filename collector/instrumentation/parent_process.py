"""Makes the engine process end when the process that started it has gone, even if that one was killed."""

import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.process import BaseProcess

PATIENCE_SECONDS = 30.0
"""Seconds that this process is given to end after SIGTERM before it is made to end."""


def end_with_parent() -> None:
    """Ask this process to end (SIGTERM) when its parent is gone, and make it end when it does not.

    vLLM's engine process outlives a client that was killed: it keeps its memory, and our writer goes on saying that the
    run is being recorded. Does nothing in a process that multiprocessing did not start.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent,), name="radixflow-parent", daemon=True).start()


def _watch(parent: BaseProcess) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
