"""Rounds of one stream, natively and with precise marks, by vLLM version: what the finding in docs/ rests on."""

import random
from typing import Any

import pytest
import vllm

from radixflow.collector.policies import RadixFlowScheduler
from radixflow.collector.vllm_adapters.versions import version_pair
from tests.scheduler_harness.construction import build_scheduler, make_request
from tests.scheduler_harness.driving import drain

BLOCK_SIZE = 528  # of Qwen3.5-4B
VERSION = version_pair(vllm.__version__)
MARKS_AGAIN = VERSION == (0, 32)
"""Only 0.32 marks a whole-block state again when a sibling that resumes there is scheduled; 0.33.0 returns early."""
STATE_READY = {(0, 26): 122}.get(VERSION, 125)
"""Rounds of state-ready traversal without false refusals."""


def tokens(rng: random.Random, count: int) -> list[int]:
    return [rng.randrange(5, 500) for _ in range(count)]


def one_document(num_consumers: int) -> list[list[int]]:
    rng = random.Random(0)
    document = tokens(rng, 6030)
    return [document + tokens(rng, 12) for _ in range(num_consumers)]


def questions_of_four(num_questions: int) -> list[list[int]]:
    rng = random.Random(0)
    prompts = []
    for _ in range(num_questions):
        length = rng.gauss(5500, 1200) if rng.random() < 0.5 else rng.gauss(380, 120)
        stem = tokens(rng, max(60, int(length)) + 30)
        prompts += [stem + tokens(rng, 12) for _ in range(4)]
    return prompts


def num_rounds(policy: str, prompts: list[list[int]]) -> int:
    scheduler: Any = build_scheduler(
        RadixFlowScheduler,
        block_size=BLOCK_SIZE,
        max_num_seqs=16,
        max_num_batched_tokens=4096,
        num_blocks=20_000,
        additional_config={"radixflow": {"policy": policy}},
    )
    for number, prompt in enumerate(prompts):
        scheduler.add_request(make_request(scheduler, str(number), prompt))
    return drain(scheduler)


@pytest.mark.parametrize(("policy", "expected"), [("radix", 2002 if MARKS_AGAIN else 127), ("radix+precise", 127)])
def test_one_document_with_2000_consumers(policy: str, expected: int) -> None:
    assert num_rounds(policy, one_document(2000)) == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("radix", 362 if MARKS_AGAIN else 156),
        ("radix+precise", 156),
        ("radixflow-immediate", 126 if MARKS_AGAIN else STATE_READY),
        ("radixflow-immediate+precise", STATE_READY),
    ],
)
def test_120_questions_of_four_branches(policy: str, expected: int) -> None:
    assert num_rounds(policy, questions_of_four(120)) == expected
