"""The options of ``attach``, and its help."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from radixflow.collector.cli.command_parser import CommandParser
from radixflow.collector.cli.record_options import folder, require_folder_name
from radixflow.collector.instrumentation.settings import PROBE_MODES
from radixflow.collector.policies.catalog import NATIVE, parse_policy
from radixflow.schema.errors import RadixflowError

SIZE_UNITS = {
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
TIME_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
NO_LIMIT = "none"
DESCRIPTION = """\
Record a vLLM server that others load. Prints the 'vllm serve' line that records, or runs it (--exec). What follows
-- is what follows 'vllm serve': a model and any of its options. Scheduling stays vLLM's own unless --policy says
otherwise. Writes runs to OUTPUT/EXPERIMENT/STREAM-0001/POLICY/, STREAM-0002, ...: none is ever overwritten."""
EPILOG = """\
limits:
  A run that reaches --max-size or --max-duration ends. Recording ends with it and the server goes on; or, with
  --rotate N, the next run begins and the latest N are kept, so that N times --max-size bounds the disk.

start and stop:
  The word in OUTPUT/EXPERIMENT/STREAM.control starts and stops the recording of a running server: 'record' or 'stop'.
  With --exec, SIGUSR1 sent to this command starts it and SIGUSR2 stops it. A stop closes the run; a start begins the
  next one.

end of the server:
  With --exec, Ctrl-C and SIGTERM close the run first and then end the server. Without, give 'vllm serve' a
  --shutdown-timeout of a few seconds: by default it kills its engine at once, and the run says incomplete.

example:
  radixflow-collect attach --exec --sample-rounds 1% --rotate 24 -- Qwen/Qwen3-Next-80B-A3B-Instruct --port 8000
"""


def parse_attach_options(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Parse the options of ``attach``; returns them, and the words behind ``--``.

    Raises:
        RadixflowError: a bad option, an unknown policy, or nothing behind ``--``.
    """
    ours, separator, served = _split(words)
    options = _parser().parse_args(ours)
    if not served:
        missing = "is empty" if separator else "is missing"
        raise RadixflowError(
            f"What follows 'vllm serve' {missing}: radixflow-collect attach [options] -- MODEL [vllm serve options]."
        )
    if parse_policy(options.policy).traversal == NATIVE:
        raise RadixflowError(f"Policy {options.policy} is the unobserved one; radix is the same scheduling, recorded.")
    for name in (options.experiment, options.stream):
        require_folder_name(name)
    return options, served


def _split(words: Sequence[str]) -> tuple[list[str], bool, list[str]]:
    place = list(words).index("--") if "--" in words else len(words)
    return list(words[:place]), place < len(words), list(words[place + 1 :])


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser("attach", DESCRIPTION, EPILOG)
    parser.usage = "radixflow-collect attach [options] -- MODEL [vllm serve options]"
    add = parser.add_argument
    add("--exec", action="store_true", help="run the line instead of printing it")
    add("--policy", default="radix", metavar="P", help="how the queue is scanned; radix is vLLM's own (%(default)s)")
    add("-o", "--output", "--runs", type=folder, default=Path("runs"), metavar="DIR",
        help="where runs are kept (%(default)s)")  # fmt: skip
    add("--experiment", metavar="NAME", help="first folder below it (default: name of the model)")
    add("--stream", metavar="NAME", default="served", help="name of the runs, which are numbered (%(default)s)")
    add("--sample-rounds", type=share, default=1.0, metavar="N%", help="share of the rounds to keep (100%%)")
    add("--max-size", type=size, default=2 * 2**30, metavar="SIZE", help="size at which a run ends, or none (2GiB)")
    add("--max-duration", type=duration, default=3600.0, metavar="TIME", help="age at which a run ends, or none (1h)")
    add("--rotate", type=count, default=0, metavar="N", help="go on in a new run, and keep the latest N")
    add("--probe", choices=PROBE_MODES, default="full",
        help="record BLOCKED visits (blocked), and READY work behind a stop (full) (%(default)s)")  # fmt: skip
    add("--stopped", action="store_true", help="start without recording")
    add("--allow-untested-vllm", action="store_true", help="go on with a vLLM version that was not tested")
    return parser


def share(text: str) -> float:
    """Parse a percentage above 0 and at most 100 (``1%``) and return it as a fraction (0.01)."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", text)
    value = float(match[1]) / 100 if match else 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no share above 0% and up to 100%, such as 1%")
    return value


def size(text: str) -> int | None:
    """Parse a size such as ``2GiB`` and return it in bytes, or None if it stands for no limit."""
    if text == NO_LIMIT:
        return None
    value = _quantity(text, {name: float(factor) for name, factor in SIZE_UNITS.items()})
    if value is None or value < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no size, such as 500MB or 2GiB, and not {NO_LIMIT}")
    return int(value)


def duration(text: str) -> float | None:
    """Parse a duration such as ``1h`` and return it in seconds, or None if it stands for no limit."""
    if text == NO_LIMIT:
        return None
    value = _quantity(text, TIME_UNITS)
    if value is None or value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no time, such as 90s, 15min, 1h or 1d, and not {NO_LIMIT}")
    return value


def count(text: str) -> int:
    """Parse a number of runs, which must be at least 1."""
    if not re.fullmatch(r"\d{1,6}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r:.40} is no number of runs from 1 on")
    return int(text)


def _quantity(text: str, units: dict[str, float]) -> float | None:
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)\s*([A-Za-z]+)", text)
    return float(match[1]) * units[match[2]] if match and match[2] in units else None
