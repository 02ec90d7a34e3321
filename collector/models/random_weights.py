"""Random weights that make a wrong recurrent state visible.

With usual random weights the gates of a gated delta net forget within a few tokens: answers stay equal even when a
wrong state is read, so that "the answers agree" proves nothing. Slow decay and wide weights keep the state alive to the
last token.
"""

from pathlib import Path
from typing import Any

SEED = 0
DECAY_LOGARITHM = -8.0
"""Value of every ``A_log``: the state loses about exp(-8) of itself a token."""


def write_weights(folder: Path, config: dict[str, object]) -> None:
    """Make the weights of a configuration and save them, with ``config.json``, into a folder.

    Deterministic: the same configuration gives the same bytes. The global random state is left as it was.
    """
    import torch
    from transformers.utils import logging

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = _model(config).to(torch.bfloat16)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("A_log"):
                parameter.fill_(DECAY_LOGARITHM)
            elif name.endswith("dt_bias"):
                parameter.zero_()
    logging.disable_progress_bar()
    model.save_pretrained(folder)


def _model(config: dict[str, object]) -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM, Qwen3NextConfig, Qwen3NextForCausalLM

    classes = {"qwen3_next": (Qwen3NextConfig, Qwen3NextForCausalLM), "qwen3": (Qwen3Config, Qwen3ForCausalLM)}
    config_class, model_class = classes[str(config["model_type"])]
    return model_class(config_class(**{key: value for key, value in config.items() if key != "architectures"}))
