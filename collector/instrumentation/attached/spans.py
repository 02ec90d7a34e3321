"""The spans of a worker whose engine is recorded run by run."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from radixflow.collector.instrumentation.attached.listener import RUN_ATTRIBUTE

POLL_SECONDS = 0.25
"""Time between two looks at whether the engine has closed a run; it waits for its workers much longer."""


class ClosableSpans(Protocol):
    """A writer of spans of one run."""

    def close(self) -> None:
        """Write what is pending."""
        ...


class SpansByRun:
    """Gives each round the writer of its run, and closes a writer after the engine's own.

    Args:
        open_spans: Makes the writer for the folder of a run.
    """

    def __init__(self, open_spans: Callable[[Path], ClosableSpans]) -> None:
        self._open_spans = open_spans
        self._lock = threading.Lock()
        self._by_run: dict[str, ClosableSpans | None] = {}
        self._thread = threading.Thread(target=self._watch, name="radixflow-spans", daemon=True)
        self._thread.start()

    def of_round(self, scheduler_output: Any) -> Any:
        """Return the writer of a round's run; None if the round is not recorded, or no writer can be made."""
        run = getattr(scheduler_output, RUN_ATTRIBUTE, None)
        if run is None:
            return None
        with self._lock:
            if run not in self._by_run:
                self._by_run[run] = self._opened(run)
            return self._by_run[run]

    def _opened(self, run: str) -> ClosableSpans | None:
        try:
            return self._open_spans(Path(run))
        except Exception as error:  # whatever it is, the worker must not feel it
            print(f"radixflow: no spans of {run}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            return None

    def close(self) -> None:
        """Close every writer: the worker shuts down."""
        with self._lock:
            runs, self._by_run = self._by_run, {}
        for spans in runs.values():
            if spans is not None:
                spans.close()

    def _watch(self) -> None:
        closing: set[str] = set()
        while True:
            time.sleep(POLL_SECONDS)
            for run in list(self._by_run):
                if run in closing:  # seen closed before: a rank that lags behind has had its time
                    with self._lock:
                        spans = self._by_run.pop(run, None)
                    if spans is not None:
                        spans.close()
                    closing.discard(run)
                elif _engine_has_closed(Path(run)):
                    closing.add(run)


def _engine_has_closed(run: Path) -> bool:
    try:
        return bool(json.loads((run / "writers" / "engine.json").read_text(encoding="utf-8")).get("closed"))
    except (OSError, ValueError, AttributeError):
        return False
