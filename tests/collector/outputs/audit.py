"""Do all policies answer as vLLM's own scheduler class does, and if not, were the states right?

Every arm serves the same streams. Where an arm's answer differs from stock, both are recomputed: each request alone,
in one prefill, on an engine without a prefix cache, so that no state of anybody else can be in it. Run as a program it
writes its findings as JSON; :mod:`tests.collector.outputs.process` starts it.
"""

import dataclasses
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.collector.outputs import arms as audited
from tests.collector.outputs.answers import Answer, Logits, first_difference, gap
from tests.collector.outputs.arms import GEOMETRIES, NO_CACHE, STOCK, Arm, Arms, Geometry, Report, Streams
from tests.collector.outputs.findings import CLEAR, WRONG, Difference, Finding, write_findings
from tests.collector.outputs.in_process_engine import BLOCK_SIZE, MAX_MODEL_LEN, InProcessEngine, engine
from tests.collector.outputs.streams import random_stream

PIECES = (MAX_MODEL_LEN, 3 * BLOCK_SIZE, 2 * BLOCK_SIZE, BLOCK_SIZE, 96)
"""Tokens a step in which a request that differs is recomputed alone; the first: all at once."""


class Alone:
    """Requests recomputed alone, each answer once."""

    def __init__(self, running: InProcessEngine, streams: Streams) -> None:
        self._engine = running
        self._prompts = {(seed, r.name): r.prompt for seed, stream in streams.items() for r in stream}
        self._known: dict[Any, list[Logits]] = {}

    def logits(self, seed: int, request: str, tokens: list[int]) -> list[Logits]:
        """The logits at each position of an answer."""
        key = (seed, request, tuple(tokens))
        if key not in self._known:
            self._known[key] = self._engine.recompute(self._prompts[seed, request], tokens)
        return self._known[key]

    def in_other_ways(self, seed: int, request: str, tokens: list[int]) -> list[Logits]:
        """The logits before the last of ``tokens``: prefilled in pieces of several lengths, and decoded."""
        key = ("other ways", seed, request, tuple(tokens))
        if key not in self._known:
            prompt, running = self._prompts[seed, request], self._engine
            found = [running.recompute(prompt, tokens, piece)[-1] for piece in PIECES]
            decoded = [running.decode(prompt, tokens, given) for given in {0, max(0, len(tokens) - 2)}]
            self._known[key] = found + [logits for logits in decoded if logits is not None]
        return self._known[key]


def audit(geometry: Geometry, seeds: Iterable[int], precise: Iterable[str], report: Report) -> list[Finding]:
    """Run every arm of a geometry and judge it.

    Args:
        geometry: Cut of the cache.
        seeds: One stream each.
        precise: Policies to run with precise marks, too.
        report: Told about the progress.
    """
    streams = {seed: random_stream(seed, BLOCK_SIZE) for seed in seeds}
    arms = audited.run_arms(geometry, streams, precise, lambda text: report(f"{geometry.name}: {text}"))
    no_cache = {"enable_prefix_caching": False, "mamba_cache_mode": "none", "max_num_batched_tokens": MAX_MODEL_LEN}
    with engine(**no_cache) as running:
        arms[NO_CACHE] = audited.serve_without_cache(running, streams, report)
        alone = Alone(running, streams)
        return [_judge(geometry.name, name, arm, arms, alone) for name, arm in arms.items()]


def _judge(geometry: str, name: str, arm: Arm, arms: Arms, alone: Alone) -> Finding:
    differences, gaps, shifts = [], [], []
    clear: list[bool] = []
    for seed, answers in arm.answers.items():
        for request, answer in answers.items():
            logits = alone.logits(seed, request, answer.tokens)
            gaps += [gap(at, token) for at, token in zip(logits, answer.tokens, strict=True)]
            shifts += [_shift(answer, logits, position) for position in range(len(answer.tokens))]
            stock = arms[STOCK].answers[seed][request]
            if gap(logits[0], _second(logits[0])) > CLEAR:
                clear.append(stock.tokens[0] == answer.tokens[0])
            position = first_difference(stock.tokens, answer.tokens)
            if position is not None:
                differences.append(_difference(seed, request, position, (stock, answer), alone))
    return Finding(
        geometry, name, sum(map(len, arm.answers.values())), len(gaps), differences, sum(g > WRONG for g in gaps),
        max(gaps), max(shifts), len(clear), clear.count(False),
        dataclasses.asdict(arm.evidence) | {"blocked_visits": arm.evidence.blocked_visits},
    )  # fmt: skip


def _difference(seed: int, request: str, position: int, answers: tuple[Answer, Answer], alone: Alone) -> Difference:
    gaps, shifts = [], []
    for answer in answers:
        token, logit = answer.tokens[position], answer.logits[position][answer.tokens[position]]
        logits = alone.in_other_ways(seed, request, answer.tokens[: position + 1])
        gaps.append([gap(cut, token) for cut in logits])
        shifts.append(min(abs(logit - cut[token]) for cut in logits))
    return Difference(
        seed, request, position, (answers[0].tokens[position], answers[1].tokens[position]),
        gap_alone=max(of_token[0] for of_token in gaps), gap_in_other_ways=max(map(min, gaps)),
        gap_in_arms=max(gap(a.logits[position], _second(a.logits[position])) for a in answers), shift=max(shifts),
    )  # fmt: skip


def _shift(answer: Answer, alone: list[Logits], position: int) -> float:
    token = answer.tokens[position]
    return abs(answer.logits[position][token] - alone[position][token])


def _second(logits: Logits) -> int:
    return sorted(logits, key=lambda token: logits[token])[-2]


def main(path: str, first_seed: str, num_seeds: str, *precise: str) -> None:
    """Audit all geometries over ``num_seeds`` streams each; ``precise`` policies run with precise marks, too."""
    findings: list[Finding] = []
    for geometry in GEOMETRIES.values():
        seeds = range(int(first_seed), int(first_seed) + int(num_seeds))
        findings += audit(geometry, seeds, precise, lambda text: print(text, flush=True))
    write_findings(Path(path), findings)


if __name__ == "__main__":
    main(*sys.argv[1:])
