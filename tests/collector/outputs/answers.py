"""What an engine answered, and the logits behind it."""

import dataclasses

Logits = dict[int, float]
"""Logits by token at one position: the best two tokens, and the chosen one if it is not among them."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """The output tokens of one request with the logits from which each was chosen."""

    tokens: list[int]
    logits: list[Logits]


def gap(logits: Logits, token: int) -> float:
    """How far a token's logit is below the best one; 0 for the best token itself."""
    return max(logits.values()) - logits[token]


def first_difference(one: list[int], other: list[int]) -> int | None:
    """Position of the first token in which two answers differ, None if they are equal."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)
