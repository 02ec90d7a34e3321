"""``radixflow-collect [record]``: one arm per policy over one stream."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from radixflow.collector.cli.interruption import Interruption
from radixflow.collector.cli.preflight import require_room
from radixflow.collector.cli.progress import progress_display
from radixflow.collector.cli.record_options import parse_record_options
from radixflow.collector.engines import machine_facts, vllm_environment
from radixflow.collector.engines.captured_output import CapturedOutput
from radixflow.collector.models.model_resolution import ModelChoice, resolve_model
from radixflow.collector.workloads.catalog import make_stream
from radixflow.collector.workloads.offered_request import Stream
from radixflow.collector.workloads.prompt_limits import Rejection, split_by_length
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.standard_streams import writing_to_stdout


def run(words: Sequence[str]) -> int:
    """Record the arms that the command line asks for and print their summary.

    Raises:
        RadixflowError: one sentence and the exit code.
        KeyboardInterrupt: stopped by the user.
    """
    options, engine_words = parse_record_options(words)
    model = resolve_model(options.model)
    stream = make_stream(options)
    paths = _run_paths(options, model, stream)
    require_room(paths, options.force)
    vllm_environment.require_version(options.allow_untested_vllm)
    vllm_environment.require_device(options.device)
    vllm_environment.prepare_environment(model.shipped is not None, options.verbose)
    with Interruption() as interruption, CapturedOutput(options.verbose) as output:
        try:
            _record(options, engine_words, model, stream, paths, output)
            interruption.require_none()
        except (RadixflowError, KeyboardInterrupt) as error:
            if not interruption.has_happened:  # else a failure of the engine is only how it took the interruption
                raise
            sentence = "Stopped; what was recorded is kept, marked incomplete."
            raise RadixflowError(sentence, ExitCode.INTERRUPTED) from error
    with writing_to_stdout():
        _print_summary(paths, options.json, sys.stdout)
    return int(ExitCode.OK)


def _run_paths(options: argparse.Namespace, model: ModelChoice, stream: Stream) -> list[Path]:
    experiment = options.experiment or model.name.replace("/", "--")
    name = options.stream or f"{stream.workload}-{options.regime}-{stream.digest()[:8]}"
    if options.repeat:
        name += f"-repeat{options.repeat}"  # beside the other repeats, not in their place
    options.experiment, options.stream = experiment, name
    return [options.output / experiment / name / policy for policy in options.policy]


def _record(
    options: argparse.Namespace, engine_words: list[str], model: ModelChoice, stream: Stream, paths: list[Path],
    output: CapturedOutput,
) -> None:  # fmt: skip
    # Heavy imports: vLLM comes in here, behind the capture.
    if output.people.isatty():
        print("Loading vLLM and the model.", file=output.people, flush=True)
    from radixflow.collector.engines.vllm_arguments import parse_engine_arguments
    from radixflow.collector.engines.vllm_engine import Arm, run_arm

    device = vllm_environment.device_in_use(options.device)
    settings = parse_engine_arguments(engine_words, model.prepare(), model.shipped, device)
    accepted, rejections = split_by_length(stream.requests, settings.max_model_len)
    _report_rejections(rejections, accepted, output.people)
    if not settings.is_prefix_caching_on:
        print("Note: prefix caching is off for this model, so no prompt can reuse another's prefix and the policies"
              " decide alike; --enable-prefix-caching switches it on.", file=output.people)  # fmt: skip
    hardware = machine_facts.hardware(vllm_environment.device_name(device))
    with progress_display(output.people) as display:
        for policy, path in zip(options.policy, paths, strict=True):
            manifest = _manifest(options, policy, model, stream, len(rejections), hardware)
            arm = Arm(
                policy, path.absolute(), manifest, accepted, rejections, options.probe, options.force, options.nvtx
            )
            finished = run_arm(arm, settings, output, display.show)
            for fault in finished.faults:
                print(f"Fault in the recording of {policy}: {fault}", file=output.people)


def _report_rejections(rejections: list[Rejection], accepted: Sequence[object], people: TextIO) -> None:
    for rejection in rejections:
        print(rejection.reason, file=people)
    if not accepted:
        raise RadixflowError("No request is left to send: all of them were rejected.")


def _manifest(
    options: argparse.Namespace, policy: str, model: ModelChoice, stream: Stream, num_rejected: int,
    hardware: dict[str, object],
) -> Manifest:  # fmt: skip
    return Manifest(
        experiment=options.experiment,
        stream=options.stream,
        policy=policy,
        command=["radixflow-collect", *machine_facts.without_paths(sys.argv[1:])],
        model={"name": model.name},
        workload={
            "name": stream.workload, "digest": stream.digest(), "num_requests": len(stream.requests),
            "num_rejected": num_rejected, **stream.parameters,
            **({"repeat": options.repeat} if options.repeat else {}),
            "arrival": "all at once" if stream.parameters.get("rate") == 0 else "poisson",
        },
        versions=machine_facts.versions(),
        hardware=hardware,
        probe=options.probe,
    )  # fmt: skip


def _print_summary(paths: list[Path], as_json: bool, out: TextIO) -> None:
    from radixflow.collector.cli.summary import print_json, print_tables, read_summary

    runs, pairs = read_summary(paths)
    if as_json:
        print_json(paths, runs, pairs, out)
        return
    print_tables(runs, pairs, out)
    print("\nRuns: " + ", ".join(str(path) for path in paths), file=sys.stderr)
