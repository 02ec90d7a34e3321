"""Redirects what the engine and its processes print to a log file, which is read when the engine fails."""

import io
import os
import re
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, TextIO

_LOG_PREFIX = re.compile(r"^(\([^)]*\)\s*)?((DEBUG|INFO|WARNING|ERROR|CRITICAL) [\d: -]+\[[^]]*\]\s*)?")
_ERROR_LINE = re.compile(r"^(?:[\w.]*\.)?(\w*(?:Error|Exception|Exit|Interrupt)): (.+)$")
# What the processes around a failed one say of it; the cause stands above them in the log.
_CONSEQUENCES = (
    "Engine core initialization failed",
    "WorkerProc initialization failed",
    "Worker failed with error",
    "EngineDeadError",
    "cancelled",
)


class CapturedOutput:
    """Sends the file descriptors 1 and 2, and with them those of every child process, to a log file.

    With ``verbose`` nothing is hidden: descriptor 1 goes to stderr, so that stdout carries our data alone, and there is
    no log. Our own messages for people go to the stream :attr:`people` and our data to :attr:`data`; both work whether
    or not output is being captured.

    Args:
        verbose: Show what the engine says instead of keeping it.
    """

    def __init__(self, verbose: bool = False) -> None:
        self._verbose = verbose
        self._log: IO[bytes] | None = None
        self._saved: list[int] = []
        self.people: TextIO = sys.stderr
        self.data: TextIO = sys.stdout

    def __enter__(self) -> "CapturedOutput":
        sys.stdout.flush()
        sys.stderr.flush()
        self._saved = [os.dup(1), os.dup(2)]
        self.data, self.people = map(_copy_of, self._saved)
        if self._verbose:
            os.dup2(2, 1)
            return self
        self._log = tempfile.TemporaryFile(prefix="radixflow-engine-log-")  # closed in __exit__
        for number in (1, 2):
            os.dup2(self._log.fileno(), number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, saved in zip((1, 2), self._saved, strict=True):
            os.dup2(saved, number)
            os.close(saved)
        self.people.flush()
        self.data.flush()
        self.people, self.data = sys.stderr, sys.stdout
        if self._log is not None:
            self._log.close()

    def text(self) -> str:
        """What the engine has said so far; empty with ``verbose``."""
        if self._log is None or self._log.closed:
            return ""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")  # the shared offset stays where it is

    def save(self, path: Path) -> bool:
        """Keep the log in a file, for the person who looks for the cause; False when there is nothing to keep."""
        text = self.text()
        if not text.strip():
            return False
        try:
            path.write_text(text, encoding="utf-8")
        except OSError:
            return False
        return True

    def cause(self) -> str | None:
        """The error at the root of a failure, as the engine put it, without its log prefix; None if it named none."""
        return find_cause(self.text())


def _copy_of(descriptor: int) -> TextIO:
    stream = os.fdopen(os.dup(descriptor), "wb")
    return io.TextIOWrapper(stream, errors="backslashreplace", line_buffering=True, write_through=True)


def find_cause(log: str) -> str | None:
    """The first error of the last failure in a log, in one line, or None.

    Processes report a failure from the inside out, so later errors mostly say that another process failed.
    """
    causes: list[str] = []
    for line in log.splitlines():
        found = _ERROR_LINE.match(_LOG_PREFIX.sub("", line).strip())
        if found and not any(words in line for words in _CONSEQUENCES):
            causes.append(f"{found[1]}: {found[2]}".strip())
    return causes[-1] if causes else None
