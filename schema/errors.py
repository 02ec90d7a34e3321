"""The one error class of the project: a sentence for a person and the exit code of the command."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the exit status of our commands means."""

    OK = 0
    """Everything asked for was done."""
    FAULTS = 1
    """The command worked and found faults (``check``: a run that breaks the schema or a ledger)."""
    USAGE = 2
    """The command line or an input file is wrong; nothing was started."""
    ENVIRONMENT = 3
    """Something is missing on this machine: vLLM, a device, a supported version."""
    OUTPUT = 4
    """The output cannot be written: a run that exists, a folder without permission, a full disk."""
    ENGINE = 5
    """The engine failed while it ran; what was recorded until then is kept."""
    INTERRUPTED = 130
    """Stopped by the user."""


class RadixflowError(Exception):
    """A fault that a person can act on.

    Args:
        message: One clear sentence, without a traceback.
        exit_code: Exit status of the command that meets it.
    """

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
