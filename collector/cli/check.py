"""``radixflow-collect check``: validate runs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from radixflow.collector.cli.command_parser import CommandParser
from radixflow.collector.cli.printable import printable_line
from radixflow.schema.errors import ExitCode
from radixflow.schema.standard_streams import writing_to_stdout

DESCRIPTION = (
    "Validate runs: the schema of each segment, the counts of the manifest, whether references resolve, and\n"
    "whether both ledgers close. Prints one line a fault. Exit code 0 without faults, 1 with."
)


def run(words: Sequence[str]) -> int:
    """Check the runs that the command line names and print their faults.

    Raises:
        RadixflowError: a bad option, or a folder that is no run.
    """
    parser = CommandParser("check", DESCRIPTION)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("--json", action="store_true", help="print the faults as JSON")
    arguments = parser.parse_args(list(words))
    from radixflow.schema.checking.check import check_run

    faults = [(path, fault) for path in arguments.runs for fault in check_run(path)]
    with writing_to_stdout():
        if arguments.json:
            print(json.dumps([{"run": str(path), **asdict(fault)} for path, fault in faults], indent=2))
        else:
            for path, fault in faults:
                print(printable_line(f"{path}: {fault.where}: {fault.sentence}"))
    return int(ExitCode.FAULTS if faults else ExitCode.OK)
