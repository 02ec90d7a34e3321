"""One arm on the real vLLM: a fresh engine in its own process, the stream sent to it, the run written and closed."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from radixflow.collector.engines.arm_progress import ArmProgress, estimate_seconds_left, num_rounds_so_far
from radixflow.collector.engines.captured_output import CapturedOutput
from radixflow.collector.engines.engine_start import interruptible_start
from radixflow.collector.engines.machine_facts import clock_anchor
from radixflow.collector.engines.offer_log import Offer, OfferLog
from radixflow.collector.engines.run_closing import close_run
from radixflow.collector.engines.stream_client import LEAD_NS, EngineFailure, RefusedRequest, send_stream
from radixflow.collector.engines.vllm_arguments import EngineSettings, engine_facts, one_line
from radixflow.collector.policies.catalog import NATIVE, parse_policy
from radixflow.collector.workloads.offered_request import OfferedRequest
from radixflow.collector.workloads.prompt_limits import Rejection
from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.manifest import Manifest, write_manifest
from radixflow.schema.run_files.run_directory import CLIENT_WRITER, create_run
from radixflow.schema.writing.segment_writer import SegmentWriter

SHUTDOWN_SECONDS = 30.0
"""Longest wait for the engine process to end by itself."""
PROGRESS_SECONDS = 0.25
_DIED = "its process ended without a word (killed, or out of memory)."


@dataclass(frozen=True)
class Arm:
    """One policy over one stream, with everything else as in the other arms."""

    policy: str
    """Policy of the arm."""
    run_directory: Path
    """Absolute path of the run to write."""
    manifest: Manifest
    """What is known before the engine starts."""
    requests: Sequence[OfferedRequest] = field(repr=False)
    """The branches to send."""
    rejections: Sequence[Rejection] = field(repr=False)
    """The branches that are not sent."""
    probe: str
    """How far the counterfactual probe goes."""
    is_forced: bool = False
    """Whether a run that is already there is replaced."""
    nvtx: bool = True
    """Whether components are shown to an NVTX tool that is attached."""


def run_arm(
    arm: Arm, settings: EngineSettings, output: CapturedOutput, on_progress: Callable[[ArmProgress], None]
) -> Manifest:
    """Run one arm to its end and return the manifest of its complete run.

    Args:
        arm: What to run.
        settings: Engine options, the same for every arm.
        output: Holds what the engine says.
        on_progress: Called a few times a second.

    Raises:
        RadixflowError: the run exists or cannot be written to its end (``OUTPUT``), or the engine failed (``ENGINE``);
            what was recorded is kept, marked incomplete.
        KeyboardInterrupt: stopped by the user; the run is kept, marked incomplete.
    """
    create_run(arm.run_directory, arm.manifest, arm.is_forced)
    writer = SegmentWriter(arm.run_directory, "client")
    driver = _Driver(arm, settings, OfferLog(writer), on_progress)
    state, what = "incomplete", None
    try:
        asyncio.run(driver.run())
        state = "complete"
    except EngineFailure as failure:
        what = output.cause() or str(failure)
        output.save(arm.run_directory / "engine.log")
    finally:
        driver.log.end_all("failed" if what else "unfinished", what)
        arm.manifest.clock_anchors.append(clock_anchor("client end"))
        writer.describe(clock_anchors=arm.manifest.clock_anchors)
        writer.close()
        if what:
            arm.manifest.faults.append(f"The engine failed: {one_line(what)}")
        close_run(arm.run_directory, arm.manifest, state, _writers_of(arm.policy))
    if what:
        raise RadixflowError(
            f"The engine failed under {arm.policy}, the run so far is kept, marked incomplete, in"
            f" {arm.run_directory}: {one_line(what)}",
            ExitCode.ENGINE,
        )
    if arm.manifest.state != "complete":
        raise RadixflowError(
            f"The requests of {arm.policy} were served, but the recording in {arm.run_directory} is incomplete:"
            f" {one_line(arm.manifest.faults[0])}",
            ExitCode.OUTPUT,
        )
    return arm.manifest


def _writers_of(policy: str) -> list[str]:
    """Writers without which an arm is not recorded as it should be."""
    return [CLIENT_WRITER] if parse_policy(policy).traversal == NATIVE else [CLIENT_WRITER, "engine"]


class _VllmTokens:
    """vLLM behind the interface of the stream client."""

    def __init__(self, engine: Any) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        self._engine = engine
        # Greedy, and always all output tokens: the work of an arm must not hang on what its model says.
        self._sampling: dict[str, Any] = {
            "temperature": 0.0, "detokenize": False, "ignore_eos": True, "output_kind": RequestOutputKind.DELTA,
        }  # fmt: skip
        self._parameters: Callable[..., Any] = SamplingParams

    async def generate(self, request: OfferedRequest) -> AsyncIterator[list[int]]:
        from vllm.v1.engine.exceptions import EngineDeadError

        prompt = {"prompt_token_ids": list(request.prompt_token_ids)}
        try:
            parameters = self._parameters(max_tokens=request.max_output_tokens, **self._sampling)
            async for output in self._engine.generate(prompt, parameters, request.request_id):
                yield list(output.outputs[0].token_ids)
        except EngineDeadError as error:
            raise EngineFailure(_DIED) from error
        except Exception as error:
            if self._engine.errored:
                raise EngineFailure(one_line(error)) from error
            raise RefusedRequest(one_line(error)) from error


class _Driver:
    """The asynchronous part of an arm."""

    def __init__(
        self, arm: Arm, settings: EngineSettings, log: OfferLog, on_progress: Callable[[ArmProgress], None]
    ) -> None:
        self.log = log
        self._arm, self._settings, self._on_progress = arm, settings, on_progress
        self._start_ns = 0

    async def run(self) -> None:
        self._tell("starting")
        engine = self._start_engine()
        try:
            self._describe(engine.vllm_config)
            await self._send(engine)
        finally:
            self._tell("ending")
            engine.shutdown(timeout=SHUTDOWN_SECONDS)

    def _start_engine(self) -> Any:
        from vllm.v1.engine.async_llm import AsyncLLM

        arm = self._arm
        try:
            with interruptible_start():
                arguments = self._settings.for_arm(arm.policy, arm.run_directory, arm.probe, arm.nvtx)
                return AsyncLLM.from_engine_args(arguments)
        except Exception as error:  # vLLM raises what it likes
            raise EngineFailure(f"it did not start: {one_line(error)}") from error

    def _describe(self, config: Any) -> None:
        """Complete the manifest with what only a started engine knows."""
        manifest = self._arm.manifest
        geometry, manifest.engine_arguments = engine_facts(config)
        manifest.model |= geometry
        manifest.clock_anchors.append(clock_anchor("client start"))
        write_manifest(self._arm.run_directory, manifest)

    async def _send(self, engine: Any) -> None:
        self._start_ns = time.monotonic_ns() + LEAD_NS
        offers = self.log.expect(list(self._arm.requests), self._start_ns)
        self.log.reject(list(self._arm.rejections), self._start_ns)
        watcher = asyncio.create_task(self._watch(offers))
        try:
            await send_stream(_VllmTokens(engine), offers, self.log)
        finally:
            watcher.cancel()

    async def _watch(self, offers: list[Offer]) -> None:
        seconds_of_arrivals = (offers[-1].offered_ns - self._start_ns) / 1e9 if offers else 0.0
        while True:
            elapsed = (time.monotonic_ns() - self._start_ns) / 1e9
            seconds_left = estimate_seconds_left(elapsed, self.log.num_ended, len(offers), seconds_of_arrivals)
            self._tell("sending", seconds_left)
            await asyncio.sleep(PROGRESS_SECONDS)

    def _tell(self, phase: str, seconds_left: float | None = None) -> None:
        arm = self._arm
        self._on_progress(
            ArmProgress(
                arm.policy, phase, len(arm.requests), self.log.num_ended,
                num_rounds_so_far(arm.run_directory), seconds_left,
            )
        )  # fmt: skip
