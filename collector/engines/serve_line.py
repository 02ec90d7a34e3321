"""The ``vllm serve`` line of a recorded server: the user's own words, and behind them what records."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from radixflow.collector.engines import vllm_command
from radixflow.collector.engines.vllm_arguments import (
    RECORDED_SCHEDULER,
    RECORDED_WORKER,
    defaults_for,
    one_line,
    safe_block_size,
)  # fmt: skip
from radixflow.collector.engines.vllm_environment import installed_vllm
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.collector.models.model_resolution import ModelChoice
from radixflow.schema.errors import RadixflowError

OUR_OPTIONS = ("--scheduler-cls", "--worker-cls")
"""Options of ``vllm serve`` that recording needs for itself."""


@dataclass(frozen=True)
class ServeLine:
    """A command line for a server.

    Attributes:
        words: The words after ``vllm``.
        environment: Variables that the server needs beside those that are there.
        host: Address that it will listen on, None for all.
        port: Port that it will listen on; None when it listens on a socket of the file system.
        notes: Sentences for the person.
    """

    words: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    host: str | None = None
    port: int | None = None
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The line as a shell takes it."""
        assignments = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        has_command = installed_vllm()[0] == "vllm"  # that of another distribution fails, see vllm_command
        return " ".join([*assignments, shlex.join(["vllm", *self.words] if has_command else self.command())])

    def command(self) -> list[str]:
        """The line for this Python environment, whether its ``bin`` is on the path or not."""
        return [sys.executable, "-m", vllm_command.MODULE, *self.words]


def named_model(words: Sequence[str]) -> str | None:
    """The model that the words of ``vllm serve`` name, None when a configuration file does."""
    for place, word in enumerate(words):
        if word == "--model" and place + 1 < len(words):
            return words[place + 1]
        if word.startswith("--model="):
            return word.removeprefix("--model=")
    return words[0] if words and not words[0].startswith("-") else None


def make_serve_line(
    words: Sequence[str], settings: AttachSettings, shipped: ModelChoice | None, environment: dict[str, str]
) -> ServeLine:
    """Let vLLM parse and check the words of ``vllm serve``, and add the options that record. Starts no engine.

    Args:
        words: What would follow ``vllm serve``.
        settings: What to record.
        shipped: The shipped model that the words name, if they name one; it is made if it is not there yet.
        environment: Variables that the server needs beside those that are there.

    Raises:
        RadixflowError: vLLM refuses an option or the model, or an option is needed for recording.
    """
    _refuse_our_options(words)
    words = ["serve", *words] if shipped is None else ["serve", *_with_shipped_model(words, shipped)]
    parsed = _parse(words)
    config = _resolve(parsed)
    kind = "cpu" if config.device_config.device_type == "cpu" else "cuda"
    additional = dict(parsed.additional_config or {}) | settings.additional_config()
    added = ["--scheduler-cls", RECORDED_SCHEDULER[bool(config.scheduler_config.async_scheduling)],
             "--worker-cls", RECORDED_WORKER[kind]]  # fmt: skip
    if kind == "cpu" and config.model_config.is_hybrid and parsed.block_size is None:
        added += ["--block-size", str(safe_block_size(config))]
    added += ["--additional-config", json.dumps(additional, separators=(",", ":"))]
    port = None if getattr(parsed, "uds", None) or parsed.headless else parsed.port
    return ServeLine([*words, *added], environment, parsed.host, port, _notes(config))


def _refuse_our_options(words: Sequence[str]) -> None:
    for word in words:
        name = word.partition("=")[0].replace("_", "-")
        if name in OUR_OPTIONS:
            raise RadixflowError(f"{name} is what records the server and cannot be given.")


def _with_shipped_model(words: Sequence[str], model: ModelChoice) -> list[str]:
    """The folder of a shipped model in place of its name, and its defaults where the user says nothing."""
    kept = [word for place, word in enumerate(words) if not _names(words, place, model.name)]
    given = {word.partition("=")[0].replace("_", "-").replace("--no-", "--") for word in kept if word.startswith("--")}
    added: list[str] = []
    for name, value in ({"served_model_name": model.name} | defaults_for(model.shipped)).items():
        option = f"--{name.replace('_', '-')}"
        if option not in given:
            added += [option] if value is True else [option, str(value)]
    return [model.prepare(), *kept, *added]


def _names(words: Sequence[str], place: int, model: str) -> bool:
    """Whether the word at a place is (part of) the naming of the model."""
    word, before = words[place], words[place - 1] if place else ""
    return word in ("--model", f"--model={model}") or (word == model and (place == 0 or before == "--model"))


def _parse(words: list[str]) -> Any:
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    try:
        from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
    except ImportError:  # before 0.32
        from vllm.entrypoints.openai.cli_args import make_arg_parser, validate_parsed_serve_args

    class ServeArgumentParser(FlexibleArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise RadixflowError(f"Bad argument of vllm serve: {one_line(message)}")

    parser = ServeArgumentParser(prog="vllm")
    make_arg_parser(parser.add_subparsers(dest="subparser").add_parser("serve", add_help=False))
    try:
        parsed = parser.parse_args(words)
        validate_parsed_serve_args(parsed)
    except (
        ValueError,
        TypeError,
        KeyError,
        AssertionError,
        IndexError,
        OSError,
    ) as error:  # what the parser trips over
        raise RadixflowError(f"Bad argument of vllm serve: {one_line(error)}") from error
    if parsed.model_tag is not None:
        parsed.model = parsed.model_tag
    return parsed


def _resolve(parsed: Any) -> Any:
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.usage.usage_lib import UsageContext

    try:
        return AsyncEngineArgs.from_cli_args(parsed).create_engine_config(UsageContext.OPENAI_API_SERVER)
    except Exception as error:  # whatever vLLM raises, it refuses the configuration
        raise RadixflowError(f"vLLM refuses this configuration: {one_line(error)}") from error


def _notes(config: Any) -> list[str]:
    notes = []
    if not config.cache_config.enable_prefix_caching:
        notes.append("prefix caching is off for this model, so no prompt can wait for a state: there will be no"
                     " BLOCKED request (--enable-prefix-caching switches it on)")  # fmt: skip
    return notes
