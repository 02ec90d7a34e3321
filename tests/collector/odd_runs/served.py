"""Serves the same streams on the real engine, recorded in odd situations: ``python -m ...served FOLDER PLACES``.

``PLACES`` is JSON: the run directories of situations that need one of their own, on a small disk or in a folder that
cannot be written; without it they are left out. Two engines in this process: vLLM's own scheduler
class, whose answers all the others must equal, and ours, whose recorder is exchanged between situations. Writes
``FOLDER/findings.json``.
"""

import contextlib
import dataclasses
import io
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from radixflow.collector.engines.run_closing import close_run
from radixflow.collector.instrumentation.recorder.round_recorder import RoundRecorder
from radixflow.collector.instrumentation.schedulers import RecordedScheduler
from radixflow.collector.instrumentation.settings import RecorderSettings
from radixflow.collector.instrumentation.stops.probe import CounterfactualProbe
from radixflow.schema.errors import RadixflowError
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import RunDirectory, create_run
from radixflow.schema.writing import segment_flusher
from radixflow.schema.writing import segment_writer as table_writer
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests.collector.odd_runs.mounts import fill
from tests.collector.outputs.answers import Answer
from tests.collector.outputs.in_process_engine import BLOCK_SIZE, MAX_NUM_SEQS, InProcessEngine, engine
from tests.collector.outputs.streams import StreamRequest, random_stream

NUM_BLOCKS = 36
"""So few that requests preempt each other."""
Answers = dict[str, Answer]


@dataclasses.dataclass
class Finding:
    """What one situation came to."""

    situation: str
    num_tokens: int = 0
    differing: list[str] = dataclasses.field(default_factory=list)
    """Requests whose tokens or logits differ from vLLM's own."""
    state: str = ""
    manifest_state: str = ""
    faults: list[str] = dataclasses.field(default_factory=list)
    said: list[str] = dataclasses.field(default_factory=list)
    """Lines on stderr."""
    closing: str | None = None
    """The sentence of a manifest that could not be written."""
    num_rounds: int = 0
    drops: int = 0
    longest_append_ms: float = 0.0
    """Longest time that the engine spent in one call of the writer."""


def decode_stream(seed: int) -> list[StreamRequest]:
    """Twelve requests of two documents with 80 output tokens each: nine rows in ten are decodes."""
    rng = random.Random(seed)
    documents = [[rng.randrange(5, 500) for _ in range(300)] for _ in range(2)]
    return [
        StreamRequest(f"d{number:02d}", 2 * number, [*rng.choice(documents)[: rng.randrange(200, 300)], number + 5], 80)
        for number in range(12)
    ]


STREAMS = [random_stream(1, BLOCK_SIZE, num_requests=24), decode_stream(2)]


@contextlib.contextmanager
def untouched(run: Path) -> Iterator[None]:
    """Nothing goes wrong."""
    yield


@contextlib.contextmanager
def failing_probe(run: Path) -> Iterator[None]:
    """The third probe raises, half-way through its work."""
    native, calls = CounterfactualProbe._look_at, []

    def fails(self: Any, visit: Any) -> Any:
        calls.append(visit)
        reason = native(self, visit)
        if len(calls) >= 3:
            raise RuntimeError("sabotage")
        return reason

    with patch.object(CounterfactualProbe, "_look_at", fails):
        yield


@contextlib.contextmanager
def file_in_the_way(run: Path) -> Iterator[None]:
    """A table's folder cannot be made: a file of its name is there."""
    (run / "rows").write_text("in the way")
    yield


@contextlib.contextmanager
def filling_disk(run: Path) -> Iterator[None]:
    """What is left of the disk goes to somebody else."""
    fill(run.parent)
    yield


@contextlib.contextmanager
def dying_writer(run: Path) -> Iterator[None]:
    """The writer's thread ends at its second segment, as no exception of ours would end it."""
    native, calls = segment_flusher.write_segment, []

    def dies(*args: Any, **kwargs: Any) -> None:
        calls.append(args)
        if len(calls) > 1:
            raise SystemExit
        native(*args, **kwargs)

    with patch.object(segment_flusher, "write_segment", dies):
        yield


@contextlib.contextmanager
def slow_disk(run: Path) -> Iterator[None]:
    """Each segment takes a second and a half, and few rows may wait."""
    native = segment_flusher.write_segment

    def slow(*args: Any, **kwargs: Any) -> None:
        time.sleep(1.5)
        native(*args, **kwargs)

    with patch.object(segment_flusher, "write_segment", slow):
        yield


SITUATIONS: dict[str, Callable[[Path], contextlib.AbstractContextManager[None]]] = {
    "untouched": untouched,
    "failing probe": failing_probe,
    "file in the way": file_in_the_way,
    "read-only folder": untouched,
    "full disk": filling_disk,
    "dying writer": dying_writer,
    "slow disk": slow_disk,
}


NEED_A_PLACE = ("read-only folder", "full disk")


def serve(running: InProcessEngine) -> Answers:
    """The answers to both streams, and to one with disturbances."""
    answers: Answers = {}
    for stream in STREAMS:
        answers |= running.answer(stream)
    return answers | disturbed(running)


def disturbed(running: InProcessEngine) -> Answers:
    """Twelve requests of which a running and a waiting one are aborted, and a reset that preempts the others."""
    aborts = {5: ["d01"], 6: ["d11"]}

    def disturb(step: int) -> None:
        running.llm.llm_engine.abort_request([f"{name}-disturbed" for name in aborts.get(step, [])])
        if step == 9:
            assert running.llm.reset_prefix_cache(reset_running_requests=True)

    stream = [
        dataclasses.replace(request, name=f"{request.name}-disturbed", arrival_step=0) for request in decode_stream(3)
    ]
    return running.answer(stream, disturb)


def recorded(running: InProcessEngine, finding: Finding, run: Path) -> Answers:
    """Serve the streams with a recorder of their own, and close the run as a client would."""
    manifest = Manifest("odd", "s", "radix", engine_arguments={"max_num_seqs": MAX_NUM_SEQS}, probe="full")
    with contextlib.suppress(RadixflowError):  # a read-only folder has its manifest already
        create_run(run, manifest)
    most = 40 if finding.situation == "slow disk" else table_writer.MAXIMUM_PENDING_ROWS
    writer = SegmentWriter(run, "engine", maximum_pending_rows=most, flush_seconds=0.1)
    timed_appends(writer, finding)
    with SITUATIONS[finding.situation](run):
        running.scheduler.listener = RoundRecorder(running.scheduler, writer, RecorderSettings(run, "full"))
        answers = serve(running)
        running.scheduler.listener.closed()
        writer.close()
        running.scheduler.listener = None
    try:
        close_run(run, manifest, "complete")
    except RadixflowError as error:
        finding.closing = str(error)
    finding.faults, finding.drops = list(writer.faults), sum(writer.drops.values())
    finding.state, finding.manifest_state = RunDirectory(run).state, RunDirectory(run).manifest.state
    finding.num_rounds = writer.rows_written.get("rounds", 0)
    return answers


def timed_appends(writer: SegmentWriter, finding: Finding) -> None:
    native = writer.append

    def append(*args: Any) -> None:
        started = time.monotonic()
        native(*args)
        finding.longest_append_ms = max(finding.longest_append_ms, (time.monotonic() - started) * 1e3)

    writer.append = append  # type: ignore[method-assign]


def main(folder: Path, places: dict[str, str]) -> None:
    """Serve everything and write down what was found."""
    options: dict[str, Any] = {
        "enable_prefix_caching": True, "mamba_cache_mode": "align", "num_gpu_blocks_override": NUM_BLOCKS,
        "max_num_batched_tokens": 1024,
    }  # fmt: skip
    with engine(**options) as stock:
        expected = serve(stock)
    findings = []
    with engine(scheduler_cls=RecordedScheduler, **options) as ours:
        for situation in (each for each in SITUATIONS if each in places or each not in NEED_A_PLACE):
            finding = Finding(situation)
            run = Path(places.get(situation, str(folder / situation.replace(" ", "-"))))
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                answers = recorded(ours, finding, run)
            finding.said = [line for line in said.getvalue().splitlines() if line.startswith("radixflow:")]
            finding.num_tokens = sum(len(answer.tokens) for answer in answers.values())
            finding.differing = [name for name in expected if answers.get(name) != expected[name]]
            findings.append(dataclasses.asdict(finding))
    (folder / "findings.json").write_text(json.dumps(findings, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
