"""``radixflow-report``: runs in one HTML file that opens anywhere."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from radixflow.app.arms import is_state_ready
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.atomic_files import write_atomically
from radixflow.schema.run_files.manifest import is_run
from radixflow.schema.run_files.run_directory import find_runs
from radixflow.schema.standard_streams import open_missing_streams, writing_to_stdout

PROGRAM = "radixflow-report"


def main(argv: Sequence[str] | None = None) -> int:
    """Write a report and return the exit code; what goes wrong is one sentence on stderr.

    Args:
        argv: Words of the command line without the program; those of this process if None.
    """
    open_missing_streams()
    try:
        return _run(_parser().parse_args(argv))
    except RadixflowError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print(f"{PROGRAM}: Stopped.", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Write runs into one HTML file with figures, tables and definitions. It needs no network.",
    )
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="a run, or a folder of runs; the first run is the baseline"
    )
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help="the HTML file to write")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    output: Path = arguments.output
    if output.is_dir():
        raise RadixflowError(f"{output} is a folder; name the file to write.", ExitCode.OUTPUT)
    if output.exists() and not arguments.force:
        raise RadixflowError(f"{output} exists already; --force replaces it.", ExitCode.OUTPUT)
    paths = [path for named in arguments.runs for path in _runs_in(named)]
    text = _write(list(dict.fromkeys(paths)))
    try:
        write_atomically(output, lambda temporary: _save(temporary, text))
    except OSError as error:
        raise RadixflowError(f"Cannot write {output}: {error.strerror or error}.", ExitCode.OUTPUT) from error
    with writing_to_stdout():
        print(output)
    return int(ExitCode.OK)


def _runs_in(path: Path) -> list[Path]:
    if is_run(path):
        return [path]
    found = [run.path for run in find_runs(path)]
    if not found:
        raise RadixflowError(f"There is no run in {path}.")
    return sorted(found, key=lambda run: (is_state_ready(run.name), run))


def _write(paths: list[Path]) -> str:
    try:
        from radixflow.app.report.html_report import html_report  # needs what the bare install does not bring
    except ModuleNotFoundError as error:
        sentence = f"{error.name} is not installed; install radixflow[app] to write reports."
        raise RadixflowError(sentence, ExitCode.ENVIRONMENT) from error
    return html_report(paths)


def _save(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
