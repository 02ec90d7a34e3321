"""The argument parser of every command: a wrong command line becomes one sentence (a ``RadixflowError``)."""

import argparse
from typing import NoReturn

from radixflow.schema.errors import RadixflowError


class CommandParser(argparse.ArgumentParser):
    """An ``ArgumentParser`` without abbreviations that raises instead of printing its usage and leaving."""

    def __init__(self, command: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=f"radixflow-collect{command and ' '}{command}",
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            RadixflowError: always.
        """
        raise RadixflowError(f"{message[:1].upper()}{message[1:].rstrip('.')} (see {self.prog} --help).")
