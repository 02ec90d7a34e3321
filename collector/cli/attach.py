"""``radixflow-collect attach``: record any ``vllm serve``."""

import argparse
import os
import sys
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from radixflow.collector.cli.attach_options import parse_attach_options
from radixflow.collector.cli.interruption import Interruption
from radixflow.collector.cli.preflight import require_writable
from radixflow.collector.engines import machine_facts, vllm_environment
from radixflow.collector.engines.captured_output import CapturedOutput
from radixflow.collector.engines.serve_line import ServeLine, make_serve_line, named_model
from radixflow.collector.engines.served_process import ServedProcess, require_free_port
from radixflow.collector.instrumentation.attached.settings import AttachSettings
from radixflow.collector.models.model_resolution import ModelChoice, resolve_model
from radixflow.collector.models.shipped_models import SHIPPED_MODELS
from radixflow.schema.errors import ExitCode
from radixflow.schema.standard_streams import writing_to_stdout


def run(words: Sequence[str]) -> int:
    """Print the ``vllm serve`` line that records, or run it.

    Raises:
        RadixflowError: one sentence and the exit code.
        KeyboardInterrupt: stopped by the user before the server started.
    """
    options, serve_words = parse_attach_options(words)
    name = named_model(serve_words)
    shipped = resolve_model(name) if name in SHIPPED_MODELS else None
    settings = _settings(options, name)
    require_writable(settings.control_file.parent)
    vllm_environment.require_version(options.allow_untested_vllm)
    line = _checked_line(serve_words, settings, shipped)
    for note in line.notes:
        _say(f"Note: {note}")
    if not options.exec:
        with writing_to_stdout():
            print(line.text())
        return int(ExitCode.OK)
    if line.port is not None:
        require_free_port(line.host, line.port)
    return ServedProcess(settings, _say).run(line.command(), dict(os.environ) | line.environment)


def _settings(options: argparse.Namespace, model: str | None) -> AttachSettings:
    name = Path(model).name if model and Path(model).is_dir() else (model or "server").replace("/", "--")
    return AttachSettings(
        folder=str((options.output / (options.experiment or name)).absolute()),
        stream=options.stream,
        policy=options.policy,
        model=name if model is None or Path(model).is_dir() else model,
        server=uuid.uuid4().hex,
        command=("radixflow-collect", *machine_facts.without_secrets(machine_facts.without_paths(sys.argv[1:]))),
        probe=options.probe,
        sample_rounds=options.sample_rounds,
        max_size_bytes=options.max_size,
        max_duration_s=options.max_duration,
        rotate=options.rotate,
        starts_stopped=options.stopped,
    )


def _checked_line(words: Sequence[str], settings: AttachSettings, shipped: ModelChoice | None) -> ServeLine:
    """vLLM checks the line here as a recording would start it; the server gets the environment of the user."""
    before = dict(os.environ)
    environment = vllm_environment.server_environment(shipped is not None)
    with Interruption(), CapturedOutput() as output:
        if output.people.isatty():
            print("Loading vLLM to check the command line.", file=output.people, flush=True)
        vllm_environment.prepare_environment(shipped is not None, verbose=False)
        line = make_serve_line(words, settings, shipped, environment)
    os.environ.clear()
    os.environ.update(before)
    return line


def _say(sentence: str) -> None:
    with suppress(OSError):  # the terminal may have gone; the server has not
        print(f"radixflow-collect: {sentence}", file=sys.stderr, flush=True)
