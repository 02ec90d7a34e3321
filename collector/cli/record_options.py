"""The options of ``record``, and its help."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from radixflow.collector.cli.__main__ import COMMANDS
from radixflow.collector.cli.command_parser import CommandParser
from radixflow.collector.engines.vllm_environment import DEVICES
from radixflow.collector.instrumentation.settings import PROBE_MODES
from radixflow.collector.models.shipped_models import SHIPPED_MODELS
from radixflow.collector.policies.catalog import ALIASES, parse_policy
from radixflow.collector.workloads.catalog import WORKLOADS, add_workload_arguments
from radixflow.schema.errors import RadixflowError

DEFAULT_POLICIES = ("radix", "radixflow-immediate")
DESCRIPTION = (
    "Run one arm per policy over the same stream of requests on the real vLLM engine, record every scheduling\n"
    "round, and print how the arms differ. Writes one run a policy: OUTPUT/EXPERIMENT/STREAM/POLICY/."
)


def parse_record_options(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Parse the options of ``record``; what is not ours is left for vLLM's parser.

    Raises:
        RadixflowError: a bad option, an unknown policy or a name that cannot be a folder.
    """
    options, engine_words = _parser().parse_known_args(list(words))
    options.policy = options.policy or list(DEFAULT_POLICIES)
    for policy in options.policy:
        parse_policy(policy)
        if options.policy.count(policy) > 1:
            raise RadixflowError(f"Policy {policy} is named twice.")
    for name in (options.experiment, options.stream):
        require_folder_name(name)
    return options, engine_words


def require_folder_name(name: str | None) -> None:
    """Refuse a name that cannot be used as the name of a folder. None means that no name was given, and passes.

    Raises:
        RadixflowError: it contains characters that are not allowed, or is too long.
    """
    if name is not None and not re.fullmatch(r"[\w][\w.+=-]{,99}", name):
        raise RadixflowError(f"{name!r:.120} cannot name a folder: use up to 100 letters, digits and . _ + = -.")


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser("", DESCRIPTION, _epilog())
    shipped = ", ".join(SHIPPED_MODELS)
    add = parser.add_argument
    add("--model", required=True, metavar="M", help=f"{shipped}, a local folder, or a Hugging Face id")
    add("--policy", nargs="+", action="extend", metavar="P",
        help=f"policies to run, one arm each (default: {' '.join(DEFAULT_POLICIES)})")  # fmt: skip
    add("-o", "--output", type=folder, default=Path("runs"), metavar="DIR", help="where runs are kept (%(default)s)")
    add("--experiment", metavar="NAME", help="first folder below it (default: name of the model)")
    add("--stream", metavar="NAME", help="second folder (default: workload, regime and digest of the stream)")
    add("--repeat", type=_repeat, metavar="N",
        help="number of this repeat, from 1, of a stream that is recorded more than once")  # fmt: skip
    add("--force", action="store_true", help="replace runs that are already there")
    add("--probe", choices=PROBE_MODES, default="full",
        help="record BLOCKED visits (blocked), and READY work behind a stop (full) (%(default)s)")  # fmt: skip
    add("--nvtx", action=argparse.BooleanOptionalAction, default=True,
        help="show the parts of each round to an NVTX tool such as Nsight Systems, if one is attached")  # fmt: skip
    add("--device", choices=DEVICES, default="auto", help="where the engine runs (%(default)s)")
    add("--allow-untested-vllm", action="store_true", help="go on with a vLLM version that was not tested")
    add("--json", action="store_true", help="print the summary as JSON")
    add("--verbose", action="store_true", help="show what the engine says, on stderr")
    add_workload_arguments(parser)
    return parser


def folder(name: str) -> Path:
    """A folder that the command line names.

    Raises:
        ArgumentTypeError: the name is empty.
    """
    if not name:  # it would mean the working directory; more likely a variable of a script is not set
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(name)


def _repeat(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{,5}", text):
        raise argparse.ArgumentTypeError("it must be a whole number from 1 to 999999")
    return int(text)


def _epilog() -> str:
    width = max(map(len, ALIASES))
    lines = ["policies:"]
    lines += [f"  {name:<{width}}  {text}" for name, (_, text) in ALIASES.items()]
    lines += ["  An unused row is an avoidable bubble when arrived work was READY but behind the stop of the scan.", ""]
    lines += ["workloads:", *(f"  {name}  {workload.description}" for name, workload in WORKLOADS.items()), ""]
    lines += ["shipped models:", *(f"  {name:<14}  {model.description}" for name, model in SHIPPED_MODELS.items()), ""]
    lines += ["engine options:", "  Any other option goes to vLLM's own parser, such as --max-num-seqs 16"
              " --max-num-batched-tokens 4096.", ""]  # fmt: skip
    lines += ["other commands:", *(f"  {name}  {text}" for name, text in COMMANDS.items() if name != "record")]
    return "\n".join(lines)
