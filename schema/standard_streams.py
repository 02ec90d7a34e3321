"""The standard streams as a command finds them: closed, full, or a pipe whose reader has gone."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from radixflow.schema.errors import ExitCode, RadixflowError


def open_missing_streams() -> None:
    """Open closed standard streams (``>&-``) on the null device, and replace characters that a stream cannot encode.

    Without it the next file that is opened takes the number of a closed stream, and the words for people go into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - it stays open
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def writing_to_stdout() -> Iterator[None]:
    """Context for printing data to stdout: a reader that closes the pipe early (``| head -1``) is not an error.

    Raises:
        RadixflowError: stdout cannot be written (exit code OUTPUT).
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout()
    except OSError as error:
        _give_up_stdout()
        raise RadixflowError(f"Cannot write to stdout: {error.strerror or error}.", ExitCode.OUTPUT) from error


def _give_up_stdout() -> None:
    """What is still in the buffer goes nowhere, so that the end of the process does not fail over it again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
