"""Makes a real vLLM scheduler over a hybrid (gated delta net + attention) KV cache, without weights or a worker."""

import functools
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from vllm.engine.arg_utils import EngineArgs
from vllm.sampling_params import SamplingParams
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.engine import core as engine_core

# The engine core's own names: the functions behind them move between modules from release to release.
from vllm.v1.engine.core import (
    StructuredOutputManager,
    generate_scheduler_kv_cache_config,
    get_hash_fn_by_name,
    get_kv_cache_configs,
    get_request_block_hasher,
    init_none_hash,
    resolve_kv_cache_block_sizes,
)
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheSpec, MambaSpec
from vllm.v1.request import Request

FULL_ATTENTION_INTERVAL = 4
"""Every fourth layer attends, as in Qwen3-Next and Qwen3.5."""

AMPLE_MEMORY = 1 << 36
"""Bytes. Nothing of it is allocated."""

MODEL_CONFIG: dict[str, Any] = {
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "vocab_size": 512,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": FULL_ATTENTION_INTERVAL,
    "full_attention_interval": FULL_ATTENTION_INTERVAL,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 64,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "mlp_only_layers": [0, 1, 2],
    "decoder_sparse_step": 1,
    "moe_intermediate_size": 64,
    "shared_expert_intermediate_size": 64,
    "norm_topk_prob": True,
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10_000_000,
    "partial_rotary_factor": 0.25,
    "tie_word_embeddings": False,
    "dtype": "bfloat16",
    "eos_token_id": 1,
}
"""A configuration only: no weights of it exist, and no worker is ever started."""

WITH_DRAFT_LAYER = {"mtp_num_hidden_layers": 1, "num_nextn_predict_layers": 1}
"""What the configuration of a model with a multi-token-prediction layer says in addition."""


@functools.cache
def _model_directory(has_draft_layer: bool = False) -> tempfile.TemporaryDirectory[str]:
    directory: tempfile.TemporaryDirectory[str] = tempfile.TemporaryDirectory(prefix="hybrid-model-")
    config = MODEL_CONFIG | (WITH_DRAFT_LAYER if has_draft_layer else {})
    (Path(directory.name) / "config.json").write_text(json.dumps(config))
    return directory


@functools.cache
def _hash_function(algorithm: str) -> Callable[[Any], bytes]:
    # Once a process: the seed of the first block would otherwise differ between two schedulers that a test compares.
    function = get_hash_fn_by_name(algorithm)
    init_none_hash(function)
    return function


@functools.cache
def _block_hasher(hash_block_size: int, algorithm: str) -> Callable[[Request], list[Any]]:
    return get_request_block_hasher(hash_block_size, _hash_function(algorithm))


def _layer_specs(block_size: int, num_layers: int, num_kv_heads: int, head_size: int) -> dict[str, KVCacheSpec]:
    # The state is tiny and padded to the attention page; a scheduler sees pages, never bytes.
    page_size = block_size * 2 * num_kv_heads * head_size * torch.bfloat16.itemsize
    attention = FullAttentionSpec(
        block_size=block_size, num_kv_heads=num_kv_heads, head_size=head_size, dtype=torch.bfloat16
    )
    state = MambaSpec(
        block_size=block_size,
        shapes=((3, 8), (1, 8, 8)),
        dtypes=(torch.bfloat16, torch.float32),
        page_size_padded=page_size,
        mamba_cache_mode="align",
    )
    return {
        f"layer.{layer}": attention if (layer + 1) % FULL_ATTENTION_INTERVAL == 0 else state
        for layer in range(num_layers)
    }


def _kv_cache_config(config: Any, specs: dict[str, KVCacheSpec], memory: int | None, num_blocks: int) -> KVCacheConfig:
    given = AMPLE_MEMORY if memory is None else memory
    # From 0.33.0 on the engine core makes the groups first and hands them in.
    make_groups = getattr(engine_core, "get_global_kv_cache_groups", None)
    groups = () if make_groups is None else (make_groups(config, [specs]),)
    kv_cache_config = generate_scheduler_kv_cache_config(get_kv_cache_configs(config, [specs], [given], *groups))
    if memory is None:
        # After the fact, since vLLM refuses at start a pool that cannot hold one request of the greatest length.
        kv_cache_config.num_blocks = num_blocks
    config.cache_config.num_gpu_blocks = kv_cache_config.num_blocks
    return kv_cache_config


def build_scheduler(
    scheduler_cls: type[Scheduler] = Scheduler,
    *,
    block_size: int,
    hash_block_size: int | None = None,
    max_num_seqs: int,
    max_num_batched_tokens: int,
    num_layers: int = FULL_ATTENTION_INTERVAL,
    memory: int | None = None,
    num_blocks: int = 1000,
    max_model_len: int = 16384,
    async_scheduling: bool = False,
    policy: str = "fcfs",
    log_stats: bool = False,
    additional_config: Mapping[str, Any] | None = None,
    **engine_arguments: Any,
) -> Scheduler:
    """Returns a scheduler as the engine core would build it, for a hybrid with state caching in align mode.

    `block_size` and `hash_block_size` are tokens; a hash block smaller than the block turns sub-block hits on. The pool
    has `num_blocks` blocks, or as many as fit into `memory` bytes where that is given. `num_layers` in steps of four:
    one layer in four attends, so there are one attention group and three state groups. The budget may not be below the
    block size. Other keywords go to `EngineArgs`.
    """
    is_mtp = (engine_arguments.get("speculative_config") or {}).get("method") == "mtp"
    arguments: dict[str, Any] = {
        "model": (_model_directory(True) if is_mtp else _model_directory()).name,
        "load_format": "dummy",
        "skip_tokenizer_init": True,
        "enforce_eager": True,
        "max_model_len": max_model_len,
        "max_num_seqs": max_num_seqs,
        "max_num_batched_tokens": max(max_num_batched_tokens, max_num_seqs, 2048),
        "enable_prefix_caching": True,
        "mamba_cache_mode": "align",
        "async_scheduling": False,
        "scheduling_policy": policy,
        "additional_config": dict(additional_config or {}),
    }
    config = EngineArgs(**(arguments | engine_arguments)).create_engine_config()
    config.scheduler_config.max_num_batched_tokens = max_num_batched_tokens
    config.scheduler_config.async_scheduling = async_scheduling  # the CPU platform would force it off
    config.cache_config.block_size = config.cache_config.mamba_block_size = block_size
    config.cache_config.prefix_match_unit = hash_block_size
    if hasattr(config.cache_config, "kv_cache_layout"):
        config.cache_config.kv_cache_layout = "NHD"  # the engine core resolves this from the workers' answers
    specs = _layer_specs(block_size, num_layers, num_kv_heads=1, head_size=64)
    kv_cache_config = _kv_cache_config(config, specs, memory, num_blocks)
    scheduler_block_size, resolved_hash_block_size = resolve_kv_cache_block_sizes(kv_cache_config, config)
    _hash_function(config.cache_config.prefix_caching_hash_algo)
    return scheduler_cls(
        vllm_config=config,
        kv_cache_config=kv_cache_config,
        block_size=scheduler_block_size,
        hash_block_size=resolved_hash_block_size,
        structured_output_manager=StructuredOutputManager(config),
        log_stats=log_stats,
    )


def make_request(
    scheduler: Scheduler,
    request_id: str,
    prompt_token_ids: Sequence[int],
    *,
    max_tokens: int = 1,
    priority: int = 0,
    arrival_time: float = 0.0,
    sampling: Mapping[str, Any] | None = None,
    **request_arguments: Any,
) -> Request:
    """Returns a request that `scheduler.add_request` takes, hashed in the scheduler's hash blocks.

    `sampling` holds more arguments of `SamplingParams`, such as `prompt_logprobs`.
    """
    hasher = _block_hasher(
        scheduler.kv_cache_manager.block_pool.hash_block_size, scheduler.cache_config.prefix_caching_hash_algo
    )
    pooling = request_arguments.pop("pooling_params", None)
    sampled = SamplingParams(max_tokens=max_tokens, temperature=0.0, ignore_eos=True, **(sampling or {}))
    return Request(
        request_id=request_id,
        prompt_token_ids=list(prompt_token_ids),
        sampling_params=None if pooling else sampled,
        pooling_params=pooling,
        priority=priority,
        arrival_time=arrival_time,
        block_hasher=hasher,
        **request_arguments,
    )
