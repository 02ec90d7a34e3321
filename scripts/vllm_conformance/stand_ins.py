"""Configurations of the models that vLLM's scheduler tests name: a local hub cache without weights or tokenizers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OPT: dict[str, Any] = {
    "architectures": ["OPTForCausalLM"],
    "model_type": "opt",
    "vocab_size": 50272,
    "hidden_size": 768,
    "ffn_dim": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "max_position_embeddings": 2048,
    "word_embed_proj_dim": 768,
    "do_layer_norm_before": True,
    "torch_dtype": "float16",
    "bos_token_id": 2,
    "eos_token_id": 2,
    "pad_token_id": 1,
}
QWEN: dict[str, Any] = {
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "vocab_size": 151936,
    "hidden_size": 1024,
    "intermediate_size": 2816,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-6,
    "rope_theta": 1_000_000.0,
    "hidden_act": "silu",
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
    "bos_token_id": 151643,
    "eos_token_id": 151643,
}
LLAVA: dict[str, Any] = {
    "architectures": ["LlavaForConditionalGeneration"],
    "model_type": "llava",
    "image_token_index": 32000,
    "ignore_index": -100,
    "image_seq_length": 576,
    "pad_token_id": 32001,
    "projector_hidden_act": "gelu",
    "vision_feature_layer": -2,
    "vision_feature_select_strategy": "default",
    "torch_dtype": "float16",
    "text_config": {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": 32064,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5,
        "torch_dtype": "float16",
    },
    "vision_config": {
        "model_type": "clip_vision_model",
        "hidden_size": 1024,
        "image_size": 336,
        "intermediate_size": 4096,
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "patch_size": 14,
        "projection_dim": 768,
        "vocab_size": 32000,
    },
}
MODELS: dict[str, dict[str, Any]] = {
    "facebook/opt-125m": OPT,
    "facebook/opt-350m": OPT | {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16},
    "Qwen/Qwen1.5-7B": QWEN,
    "Qwen/Qwen3-0.6B": QWEN | {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 128},
    "llava-hf/llava-1.5-7b-hf": LLAVA,
}
REVISION = "0" * 40


def write_hub_cache(folder: Path) -> None:
    """Lay the configurations out as the cache of the model hub, under their names."""
    for name, config in MODELS.items():
        model = folder / f"models--{name.replace('/', '--')}"
        snapshot = model / "snapshots" / REVISION
        snapshot.mkdir(parents=True, exist_ok=True)
        (snapshot / "config.json").write_text(json.dumps(config))
        (model / "refs").mkdir(exist_ok=True)
        (model / "refs" / "main").write_text(REVISION)
