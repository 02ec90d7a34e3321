"""How two arms differ, in sentences."""

from typing import Any

from radixflow.app import units


def comparison_sentence(pair: dict[str, Any]) -> str:
    """Say how the second arm of a pair differs from the first, in rounds, latency and answers.

    Args:
        pair: One row of ``paired_summary``.
    """
    return f"{_rounds(pair)} {_latency(pair)} {_tokens(pair)}"


def _rounds(pair: dict[str, Any]) -> str:
    difference = pair["rounds_difference"]
    if difference is None:
        return f"The rounds of {pair['label_b']} and {pair['label_a']} cannot be compared."
    if difference == 0:
        return f"{pair['label_b']} needs as many rounds as {pair['label_a']}."
    fewer = "fewer" if difference < 0 else "more"
    return f"{pair['label_b']} needs {units.number(abs(difference))} {fewer} rounds than {pair['label_a']}."


def _latency(pair: dict[str, Any]) -> str:
    difference = pair["mean_latency_difference_ms"]
    if difference is None:
        return "Latency was not measured on both sides."
    direction = "lower" if difference < 0 else "higher"
    pairs = units.counted(pair["num_pairs"], "pair")
    return f"Its mean latency over {pairs} is {units.duration(abs(difference))} {direction}."


def _tokens(pair: dict[str, Any]) -> str:
    agreement = pair["first_token_agreement_fraction"]
    if agreement is None:
        return "Whether the first tokens agree is not known."
    if agreement == 1:
        return "Every first token that both returned is the same."
    differing = units.counted(pair["num_first_token_disagreements"], "request")
    return f"First tokens agree for {units.fraction(agreement)} of the pairs; they differ for {differing}."
