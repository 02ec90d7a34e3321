"""``radixflow-collect repair``: mend runs whose recording was killed."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from radixflow.collector.cli.command_parser import CommandParser
from radixflow.collector.cli.printable import printable_line
from radixflow.schema.errors import ExitCode
from radixflow.schema.standard_streams import writing_to_stdout

DESCRIPTION = (
    "Mend runs whose recording was killed: files that were being written are removed, segments that cannot be read\n"
    "are moved to set-aside/ in the run, small segments are merged, and the manifest counts what is there and says\n"
    "what is missing. A repaired run stays incomplete; a run without damage is left as it is; one that is being\n"
    "recorded is refused. Prints a line for each thing done and each thing missing. Exit code 0, also for nothing."
)


def run(words: Sequence[str]) -> int:
    """Repair the runs that the command line names and print what was done.

    Raises:
        RadixflowError: a bad option, a folder that is no run, or a run that is being recorded or cannot be written.
    """
    parser = CommandParser("repair", DESCRIPTION)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")
    arguments = parser.parse_args(list(words))
    from radixflow.schema.checking.repair import repair_run

    repairs = []
    for path in arguments.runs:
        repair = repair_run(path)
        repairs.append({"run": str(path), **asdict(repair)})
        if not repair.done:
            print(f"{path}: nothing to repair.", file=sys.stderr)
    with writing_to_stdout():
        if arguments.json:
            print(json.dumps(repairs, indent=2))
        else:
            for each in repairs:
                for sentence in [*each["done"], *each["missing"]]:
                    print(printable_line(f"{each['run']}: {sentence}"))
    return int(ExitCode.OK)
