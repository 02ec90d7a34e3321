"""Configurations of hybrids without weights: vLLM fills them with random numbers (``--load-format dummy``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_LINEAR = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "full_attention_interval": 4,
}
_QWEN3_NEXT: dict[str, Any] = {
    "architectures": ["Qwen3NextForCausalLM"],
    "model_type": "qwen3_next",
    "vocab_size": 4096,
    "hidden_size": 512,
    "intermediate_size": 1024,
    "num_hidden_layers": 8,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 8,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
    "moe_intermediate_size": 256,
    "shared_expert_intermediate_size": 256,
    "norm_topk_prob": True,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10_000_000,
    "partial_rotary_factor": 0.25,
    "tie_word_embeddings": False,
    "max_position_embeddings": 131_072,
    "dtype": "bfloat16",
    "eos_token_id": 1,
    **_LINEAR,
}
_QWEN3_5_TEXT: dict[str, Any] = {
    "model_type": "qwen3_5_text",
    "vocab_size": 248_320,
    "hidden_size": 1024,
    "intermediate_size": 3584,
    "num_hidden_layers": 24,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 16,
    "tie_word_embeddings": True,
    "max_position_embeddings": 262_144,
    "mamba_ssm_dtype": "float32",
    "dtype": "bfloat16",
    "eos_token_id": 0,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10_000_000,
        "partial_rotary_factor": 0.25,
        "mrope_interleaved": True,
        "mrope_section": [11, 11, 10],
    },
    **_LINEAR,
}
_QWEN3_5: dict[str, Any] = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "model_type": "qwen3_5",
    "tie_word_embeddings": True,
    "text_config": _QWEN3_5_TEXT,
    # The class wants a vision tower; --language-model-only leaves it out.
    "vision_config": {"depth": 1, "hidden_size": 64, "intermediate_size": 64, "num_heads": 1, "out_hidden_size": 1024},
}
MODELS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "qwen3-next": (_QWEN3_NEXT, []),
    "qwen3.5-0.8b": (_QWEN3_5, ["--language-model-only"]),
}
"""Name to configuration, and to engine options that it needs. The first one also runs on a CPU."""


def write_model(folder: Path, name: str) -> Path:
    """Write the configuration of a model into a new folder below ``folder``, and return that."""
    made = folder / name
    made.mkdir(parents=True)
    (made / "config.json").write_text(json.dumps(MODELS[name][0], indent=1), encoding="utf-8")
    return made
