"""``radixflow-collect bench overhead``: what recording costs on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from radixflow.collector.cli.command_parser import CommandParser
from radixflow.collector.cli.summary import print_grid
from radixflow.collector.engines import vllm_environment
from radixflow.collector.engines.captured_output import CapturedOutput
from radixflow.collector.instrumentation.spans.nvtx_tool import ATTACH, build_nvtx_tool
from radixflow.collector.models.model_resolution import resolve_model
from radixflow.collector.workloads.offered_request import Stream
from radixflow.collector.workloads.shared_documents import SharedDocuments, generate
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.standard_streams import writing_to_stdout

if TYPE_CHECKING:
    from radixflow.collector.engines.overhead_figures import ArmFigures, Spread

DESCRIPTION = (
    "Measure what recording costs: one stream on one engine in this process, in turn and repeatedly under vLLM's own\n"
    "scheduler, ours without recording, and each way of recording. CPU times are those of the engine's thread. All\n"
    "arms must decide the same rounds, so that costs are compared round by round."
)
MAX_NUM_SEQS = 32


def run(words: Sequence[str]) -> int:
    """Measure and print.

    Raises:
        RadixflowError: a bad option, no vLLM that we can use, or arms that cannot be compared.
    """
    options = _parser().parse_args(list(words))
    if options.repeats < 1:
        raise RadixflowError("--repeats must be at least 1.")
    model = resolve_model("tiny-hybrid")
    vllm_environment.require_version(options.allow_untested_vllm)
    vllm_environment.prepare_environment(True, options.verbose)
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the worker's thread is to be measured, too
    with tempfile.TemporaryDirectory(prefix="radixflow-bench-") as folder, CapturedOutput(options.verbose) as output:
        has_tool = _attach_null_tool(Path(folder))
        try:
            arms, worker_us = _measure(options, model.prepare(), _stream(options.quick), Path(folder), has_tool, output)
        except Exception as error:
            raise _as_ours(error, output) from error
    with writing_to_stdout():
        if options.json:
            from radixflow.collector.engines.overhead_figures import as_json

            content = {"repeats": options.repeats, "worker_calls_us": worker_us, "arms": as_json(arms)}
            print(json.dumps(content, indent=2))
        else:
            _print(arms, worker_us)
    return int(ExitCode.OK)


def _parser() -> CommandParser:
    parser = CommandParser("bench", DESCRIPTION)
    parser.add_argument("what", choices=("overhead",), help="what to measure")
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="turns of every arm (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="a short stream: to see that it works, not to quote")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--verbose", action="store_true", help="show what the engine says, on stderr")
    parser.add_argument("--allow-untested-vllm", action="store_true", help="go on with a vLLM that was not tested")
    return parser


def _stream(is_quick: bool) -> Stream:
    return generate(
        SharedDocuments(
            num_groups=8 if is_quick else 24, rate=0, max_output_tokens=4 if is_quick else 8, regime="reuse",
            short_document_tokens=120, long_document_tokens=900, longest_document_tokens=1800,
        )
    )  # fmt: skip


def _attach_null_tool(folder: Path) -> bool:
    """Attach the tool that does nothing to this process, before its first use of NVTX; whether it could be built."""
    library = build_nvtx_tool(folder)
    if library is not None:
        os.environ[ATTACH] = str(library)
    return library is not None


def _measure(
    options: argparse.Namespace, model: str, stream: Stream, folder: Path, has_tool: bool, output: CapturedOutput
) -> tuple[list[ArmFigures], float]:
    # Heavy imports: vLLM comes in here, behind the capture.
    from radixflow.collector.engines.in_process_engine import InProcessEngine
    from radixflow.collector.engines.overhead_arms import ARMS, cost_of_worker_calls, measure
    from radixflow.collector.engines.overhead_figures import figures
    from radixflow.collector.engines.vllm_arguments import parse_engine_arguments
    from radixflow.collector.models.shipped_models import SHIPPED_MODELS

    device = vllm_environment.device_in_use("cpu")
    words = ["--max-num-seqs", str(MAX_NUM_SEQS), "--max-model-len", "4096"]
    settings = parse_engine_arguments(words, model, SHIPPED_MODELS["tiny-hybrid"], device)
    engine = InProcessEngine(settings.in_process())
    if not has_tool:
        print("There is no C compiler, so NVTX with a tool is left out.", file=output.people)
    arms = [arm for arm in ARMS if has_tool or not (arm.settings or {}).get("nvtx")]

    try:
        costs = measure(engine, arms, stream.requests, options.repeats, folder, _teller(output))
        return figures(costs), cost_of_worker_calls(folder / "worker")
    finally:
        engine.close()


def _teller(output: CapturedOutput) -> Callable[[str], None]:
    """Says on stderr what is being done: over the last line of a terminal, and only the turns elsewhere."""
    is_terminal = output.people.isatty()
    said: list[str] = []

    def say(what: str) -> None:
        turn = what if is_terminal else what.partition(":")[0]
        if turn not in said[-1:]:
            said.append(turn)
            print(
                f"\r{what:<60}" if is_terminal else turn,
                end="" if is_terminal else "\n",
                file=output.people,
                flush=True,
            )

    return say


def _as_ours(error: Exception, output: CapturedOutput) -> RadixflowError:
    if isinstance(error, RadixflowError):
        return error
    return RadixflowError(f"The engine failed: {output.cause() or error!r}", ExitCode.ENGINE)


def _print(arms: Sequence[ArmFigures], worker_us: float) -> None:
    from radixflow.collector.engines.overhead_figures import AIM_FRACTION, AIM_ROUND_US, AIM_ROW_BYTES, AIM_ROW_US

    header: tuple[str, ...] = (
        "CPU time a round in us, median (quartiles)", "schedule()", "scheduler in all", "whole round", "writing thread",
    )  # fmt: skip
    lines = [
        (arm.name, *map(_spread, (arm.schedule_us, arm.scheduler_us, arm.whole_round_us)), f"{arm.writer_us:.0f}")
        for arm in arms
    ]
    print_grid([header, *lines], sys.stdout)
    print(f"Calls of the worker's recorder: {worker_us:.1f} us a round, part of the whole round alone.")
    print("\nAdded to the scheduler's part of a round: fit over its rows, and median")
    header = (
        "", "against stock", "median", "against recording off", "median", f"less {AIM_ROW_US:g} a row", "of a round",
        "bytes a round", "a row",
    )  # fmt: skip
    print_grid([header, *(_added_line(arm) for arm in arms if arm.added)], sys.stdout)
    print(
        f"Beside their columns, the files of the last run take {arms[-1].fixed_bytes or 0:,} bytes, however long it is."
        f"\n\nAim: recording adds at most {AIM_ROUND_US:g} us + {AIM_ROW_US:g} us a row, below {AIM_FRACTION:.0%} of a"
        f" round's wall time, and below {AIM_ROW_BYTES:g} bytes a stored row."
    )


def _spread(spread: Spread) -> str:
    return f"{spread.median:.0f} ({spread.low:.0f}-{spread.high:.0f})"


def _added_line(arm: ArmFigures) -> tuple[str, ...]:
    cells = [arm.name]
    for added in (arm.added, arm.recording):
        if added is None:
            cells += ["-", "-"]
        else:
            cells += [f"{added.round_us:.1f} + {added.row_us:.2f} a row", f"{added.median_us:.1f}"]
    recording = arm.recording
    cells += ["-", "-"] if recording is None else [f"{recording.beyond_rows_us:.1f}", f"{recording.fraction:.2%}"]
    cells.append("-" if arm.round_bytes is None else f"{arm.round_bytes:.0f}")
    cells.append("-" if arm.row_bytes is None else f"{arm.row_bytes:.1f}")
    return tuple(cells)
