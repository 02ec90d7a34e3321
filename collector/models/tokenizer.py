"""The tokenizer of the shipped models: one word a token, ``w2`` to ``w511``."""

import json
from pathlib import Path

UNKNOWN, END = "<unk>", "<eos>"


def vocabulary(size: int) -> dict[str, int]:
    """Word to token id; 0 is the unknown word and 1 the end of a text."""
    return {UNKNOWN: 0, END: 1} | {f"w{number}": number for number in range(2, size)}


def write_tokenizer(folder: Path, vocabulary_size: int) -> None:
    """Write ``tokenizer.json`` and ``tokenizer_config.json`` into a model folder."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel(vocabulary(vocabulary_size), unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens([AddedToken(UNKNOWN, special=True), AddedToken(END, special=True)])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": UNKNOWN,
        "eos_token": END,
        "pad_token": END,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 32768,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")
