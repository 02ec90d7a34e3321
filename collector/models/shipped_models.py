"""The shipped models: configurations small enough to be made and run on a CPU in seconds."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """One model that is made by code, without a download."""

    name: str
    """Name on the command line."""
    description: str
    """What it is for, in one sentence."""
    is_hybrid: bool
    """Whether it has recurrent layers beside attention."""
    config: dict[str, object] = field(repr=False)
    """Keys of its ``config.json``."""


_COMMON: dict[str, object] = {
    "vocab_size": 512, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 2,
    "num_key_value_heads": 1, "head_dim": 64, "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
    "rope_theta": 10_000_000, "tie_word_embeddings": False, "dtype": "bfloat16", "eos_token_id": 1,
    # Wide weights let every token of the prompt, and the recurrent state, matter to the answer.
    "initializer_range": 0.2,
}  # fmt: skip

_HYBRID: dict[str, object] = {
    **_COMMON, "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "full_attention_interval": 4,
    "linear_conv_kernel_dim": 4, "linear_key_head_dim": 64, "linear_value_head_dim": 64, "linear_num_key_heads": 2,
    "linear_num_value_heads": 4, "num_experts": 4, "num_experts_per_tok": 2, "mlp_only_layers": [0, 1, 2],
    "decoder_sparse_step": 1, "moe_intermediate_size": 64, "shared_expert_intermediate_size": 64,
    "norm_topk_prob": True, "partial_rotary_factor": 0.25,
}  # fmt: skip

_ATTENTION: dict[str, object] = {**_COMMON, "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}

SHIPPED_MODELS = {
    model.name: model
    for model in [
        ShippedModel(
            "tiny-hybrid",
            "Three gated delta net layers and an attention layer (Qwen3-Next shape); answers depend on the state.",
            True, _HYBRID,
        ),
        ShippedModel("tiny-attention", "Four attention layers (Qwen3 shape): the control without recurrent state.",
                     False, _ATTENTION),
    ]
}  # fmt: skip
"""Shipped models by name."""
