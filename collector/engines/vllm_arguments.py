"""vLLM's own engine options, parsed by vLLM's own parser, and frozen for all arms of a stream."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from radixflow.collector.models.shipped_models import ShippedModel
from radixflow.collector.policies.catalog import NATIVE, parse_policy
from radixflow.schema.errors import RadixflowError

OUR_OPTIONS = ("model", "scheduler_cls", "worker_cls", "additional_config")
"""Options of vLLM that the collector sets itself."""
_INSTRUMENTATION = "radixflow.collector.instrumentation"
RECORDED_SCHEDULER = {
    False: f"{_INSTRUMENTATION}.RecordedScheduler", True: f"{_INSTRUMENTATION}.RecordedAsyncScheduler",
}  # fmt: skip
"""Whether vLLM schedules asynchronously, to the scheduler class that records."""
RECORDED_WORKER = {
    "cpu": f"{_INSTRUMENTATION}.workers.RecordedCPUWorker", "cuda": f"{_INSTRUMENTATION}.workers.RecordedGPUWorker",
}  # fmt: skip
"""Device to the worker class that records."""


def defaults_for(shipped: ShippedModel | None) -> dict[str, object]:
    """Engine options that differ from vLLM's when the user says nothing; none for models of the user's.

    Args:
        shipped: The shipped model, if it is one.
    """
    if shipped is None:
        return {}
    defaults: dict[str, object] = {
        "max_model_len": 16384, "max_num_seqs": 16, "max_num_batched_tokens": 4096, "enforce_eager": True,
        "enable_prefix_caching": True, "seed": 0,
    }  # fmt: skip
    if shipped.is_hybrid:
        defaults["mamba_cache_mode"] = "align"
    return defaults


@dataclass(frozen=True)
class EngineSettings:
    """Engine options that are the same in every arm."""

    arguments: Any
    """vLLM's ``AsyncEngineArgs`` without anything that an arm sets."""
    device: str
    """``cpu`` or ``cuda``."""
    max_model_len: int
    """Most tokens of prompt and output together that the engine accepts."""
    is_prefix_caching_on: bool
    """Whether a prompt can match a cached prefix at all."""
    is_async: bool
    """Whether vLLM schedules asynchronously."""

    def for_arm(self, policy: str, run_directory: Path, probe: str, nvtx: bool = True) -> Any:
        """A fresh copy of the options for one arm, with our scheduler and worker where the policy is observed.

        Args:
            policy: Name of the policy.
            run_directory: Absolute path of the run that the engine writes to.
            probe: How far the counterfactual probe goes.
            nvtx: Whether components are shown to an NVTX tool that is attached.
        """
        arguments = copy.deepcopy(self.arguments)
        if parse_policy(policy).traversal == NATIVE:
            return arguments
        settings = {"run_directory": str(run_directory), "policy": policy, "probe": probe, "nvtx": nvtx}
        return replace(
            arguments,
            scheduler_cls=RECORDED_SCHEDULER[self.is_async],
            worker_cls=RECORDED_WORKER[self.device],
            additional_config={**(arguments.additional_config or {}), "radixflow": settings},
        )

    def in_process(self) -> Any:
        """A fresh copy of the options for an engine in this process, whose worker can be told to record spans."""
        worker = "RecordedCPUWorker" if self.device == "cpu" else "RecordedGPUWorker"
        return replace(copy.deepcopy(self.arguments), worker_cls=f"{_INSTRUMENTATION}.workers.{worker}")


def parse_engine_arguments(
    words: Sequence[str], model: str, shipped: ShippedModel | None, device: str
) -> EngineSettings:
    """Parse engine options and let vLLM check them together with the model; starts nothing.

    Args:
        words: The options that the collector does not know.
        model: Folder or hub id.
        shipped: The shipped model, if it is one.
        device: ``cpu`` or ``cuda``.

    Raises:
        RadixflowError: vLLM refuses an option or the model; the sentence carries vLLM's words.
    """
    _refuse_our_options(words)
    arguments = _parse([*words], model, shipped)
    try:
        config = copy.deepcopy(arguments).create_engine_config()
    except Exception as error:  # whatever vLLM raises, it refuses the configuration
        raise RadixflowError(f"vLLM refuses this configuration: {one_line(error)}") from error
    if device == "cpu" and config.model_config.is_hybrid and arguments.block_size is None:
        arguments.block_size = safe_block_size(config)
    return EngineSettings(
        arguments,
        device,
        max_model_len=config.model_config.max_model_len,
        is_prefix_caching_on=bool(config.cache_config.enable_prefix_caching),
        is_async=bool(config.scheduler_config.async_scheduling),
    )


def safe_block_size(config: Any) -> int:
    """vLLM's own default block size, to be given explicitly.

    Without a given size, vLLM's CPU platform resets the size to its default when the engine process has finished its
    start (``EngineCoreProc._perform_handshakes`` runs ``VllmConfig.__post_init__`` again; 0.32.0), after the KV cache
    was laid out in the larger blocks of a hybrid. The scheduler then splits prompts at multiples of the small size and
    publishes states under boundaries at which they were never computed: siblings silently get wrong answers.
    """
    return int(config.cache_config.block_size)


def _parse(words: list[str], model: str, shipped: ShippedModel | None) -> Any:
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    class EngineArgumentParser(FlexibleArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise RadixflowError(f"Bad engine argument: {one_line(message)}")

    parser = AsyncEngineArgs.add_cli_args(EngineArgumentParser(prog="radixflow-collect", add_help=False))
    parser.set_defaults(**defaults_for(shipped), disable_log_stats=True)
    try:
        parsed = parser.parse_args(words)
    except (ValueError, TypeError, AssertionError, IndexError) as error:  # what the parser itself trips over
        raise RadixflowError(f"Bad engine argument: {one_line(error)}") from error
    parsed.model = model
    return AsyncEngineArgs.from_cli_args(parsed)


def _refuse_our_options(words: Sequence[str]) -> None:
    for word in words:
        name = word.partition("=")[0].partition(".")[0].lstrip("-").replace("-", "_")
        if word.startswith("--") and name in OUR_OPTIONS:
            raise RadixflowError(f"--{name.replace('_', '-')} is set by the collector and cannot be given.")


def engine_facts(config: Any) -> tuple[dict[str, object], dict[str, object]]:
    """Model geometry and engine options in effect, as a manifest shows them.

    Args:
        config: ``VllmConfig`` of a started engine.
    """
    model, cache, scheduler = config.model_config, config.cache_config, config.scheduler_config
    geometry = {
        "architecture": model.architecture,
        "is_hybrid": bool(model.is_hybrid),
        "block_size": cache.block_size,
        "hash_block_size": getattr(cache, "hash_block_size", None),
        "num_blocks": cache.num_gpu_blocks,
        "num_layers": getattr(model.hf_text_config, "num_hidden_layers", None),
        "dtype": str(model.dtype).removeprefix("torch."),
    }
    options = {
        "max_num_seqs": scheduler.max_num_seqs,
        "max_num_batched_tokens": scheduler.max_num_batched_tokens,
        "max_model_len": model.max_model_len,
        "enable_prefix_caching": bool(cache.enable_prefix_caching),
        "enable_chunked_prefill": bool(scheduler.enable_chunked_prefill),
        "mamba_cache_mode": cache.mamba_cache_mode,
        "async_scheduling": bool(scheduler.async_scheduling),
        "scheduling_policy": scheduler.policy,
        "enforce_eager": bool(model.enforce_eager),
        "seed": model.seed,
        "tensor_parallel_size": config.parallel_config.tensor_parallel_size,
        "pipeline_parallel_size": config.parallel_config.pipeline_parallel_size,
        "kv_cache_dtype": str(cache.cache_dtype),
    }
    return geometry, options


def one_line(error: object) -> str:
    """Return the text of an error as one line, cut to a readable length and ended with a full stop."""
    text = " ".join(str(error).split()) or type(error).__name__
    if len(text) > 300:
        text = text[:297] + "..."
    return text if text.endswith((".", "!", "?")) else text + "."
