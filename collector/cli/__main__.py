"""``radixflow-collect``: record, check and compare what a vLLM engine schedules."""

import importlib
import sys
from collections.abc import Sequence

from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.standard_streams import open_missing_streams

PROGRAM = "radixflow-collect"
COMMANDS = {
    "record": "run one arm per policy over the same stream and write a run each (the default command)",
    "attach": "record a vLLM server that others load: print its 'vllm serve' line, or run it",
    "check": "validate runs against the declared tables and the ledgers",
    "repair": "mend runs whose recording was killed",
    "bench": "measure what recording costs on this machine",
}
"""Command to one line of help; each is a module of this package with a function ``run(words) -> int``."""
DEFAULT_COMMAND = "record"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; what goes wrong is one sentence on stderr.

    Args:
        argv: Words of the command line without the program; those of this process if None.
    """
    open_missing_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    command = words.pop(0) if words and words[0] in COMMANDS else DEFAULT_COMMAND
    try:
        return int(importlib.import_module(f"radixflow.collector.cli.{command}").run(words))
    except RadixflowError as error:
        _say(str(error))
        return int(error.exit_code)
    except KeyboardInterrupt:
        _say("Stopped.")
        return int(ExitCode.INTERRUPTED)


def _say(sentence: str) -> None:
    # Names that the sentence quotes must neither break the line nor steer the terminal.
    sentence = "".join(sign for sign in " ".join(sentence.split()) if sign.isprintable())
    print(f"{PROGRAM}: {sentence}{'' if sentence.endswith(('.', '!', '?')) else '.'}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
