"""Progress of the arms on stderr: a bar on a terminal, plain lines elsewhere."""

import time
from contextlib import AbstractContextManager
from typing import Any, Protocol, TextIO

from radixflow.collector.engines.arm_progress import ArmProgress

PLAIN_SECONDS = 5.0
"""Time between two plain lines of the same phase."""
_PHASES = {"starting": "starting the engine", "sending": "recording", "ending": "stopping the engine"}


class ProgressDisplay(AbstractContextManager["ProgressDisplay"], Protocol):
    """Shows arms one after another."""

    def show(self, progress: ArmProgress) -> None:
        """Show how far the arm is."""
        ...


def progress_display(stream: TextIO) -> ProgressDisplay:
    """A display that suits the stream: a bar if it is a terminal (and rich is installed), else plain lines."""
    if stream.isatty():
        try:
            return _Bars(stream)
        except ImportError:
            pass
    return _Lines(stream)


def described(progress: ArmProgress) -> str:
    """Rounds, requests and time left in words."""
    words = [f"{progress.num_done} of {progress.num_requests} requests"]
    if progress.num_rounds is not None:
        words.append(f"{progress.num_rounds} rounds")
    if progress.phase == "sending" and progress.seconds_left is not None:
        words.append(f"{progress.seconds_left:.0f} s left")
    return ", ".join(words)


class _Lines(ProgressDisplay):
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._said: tuple[str, str] | None = None
        self._said_at = 0.0

    def __exit__(self, *_: object) -> None:
        return None

    def show(self, progress: ArmProgress) -> None:
        key, now = (progress.policy, progress.phase), time.monotonic()
        if key == self._said and now - self._said_at < PLAIN_SECONDS:
            return
        self._said, self._said_at = key, now
        print(f"{progress.policy}: {_PHASES[progress.phase]}, {described(progress)}", file=self._stream, flush=True)


class _Bars(ProgressDisplay):
    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            SpinnerColumn(), TextColumn("[bold]{task.fields[policy]}"), BarColumn(bar_width=30),
            TextColumn("{task.fields[words]}"), TextColumn("[dim]{task.fields[phase]}"), TimeElapsedColumn(),
            console=Console(file=stream, force_terminal=True), redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> "_Bars":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, progress: ArmProgress) -> None:
        fields: dict[str, Any] = {"words": described(progress), "phase": _PHASES[progress.phase]}
        task = self._tasks.get(progress.policy)
        if task is None:
            for other in self._tasks.values():
                self._progress.stop_task(other)
            task = self._progress.add_task("", total=progress.num_requests, policy=progress.policy, **fields)
            self._tasks[progress.policy] = task
        self._progress.update(task, completed=progress.num_done, total=progress.num_requests, **fields)
