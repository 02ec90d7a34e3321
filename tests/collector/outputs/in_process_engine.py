"""vLLM's real engine in this process: its scheduler can be reached, and one process can run many engines in turn.

vLLM and OpenMP read their environment once, so such a process is started by :mod:`tests.collector.outputs.process`.
"""

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

from vllm import LLM, SamplingParams
from vllm.distributed.parallel_state import cleanup_dist_env_and_memory
from vllm.sampling_params import RequestOutputKind

from radixflow.collector.models.model_resolution import resolve_model
from tests.collector.outputs.answers import Answer, Logits
from tests.collector.outputs.streams import StreamRequest

BLOCK_SIZE = 288
"""Tokens: the smallest block whose attention page holds a state of tiny-hybrid. Explicit: see ``safe_block_size``."""
MAX_MODEL_LEN = 2048
MAX_NUM_SEQS = 8
STEP_NS = 2_000_000
"""What the scheduler's clock goes on by each step, so that timers of 5 and 10 ms end after some steps."""


class StepClock:
    """A clock that only the driver moves: the same stream gives the same rounds on every machine."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


class InProcessEngine:
    """One engine over tiny-hybrid with logits instead of log probabilities in its answers.

    Args:
        options: Options of vLLM's LLM that differ from those of the audit.
    """

    def __init__(self, **options: Any) -> None:
        defaults: dict[str, Any] = {
            "enforce_eager": True, "max_model_len": MAX_MODEL_LEN, "max_num_seqs": MAX_NUM_SEQS, "seed": 0,
            "block_size": BLOCK_SIZE, "disable_log_stats": True, "skip_tokenizer_init": True,
            "async_scheduling": False, "logprobs_mode": "raw_logits",
        }  # fmt: skip
        self.llm = LLM(model=resolve_model("tiny-hybrid").prepare(), **(defaults | options))
        self.scheduler: Any = self.llm.llm_engine.engine_core.engine_core.scheduler
        self.clock = StepClock()
        self.scheduler.clock = self.clock

    def answer(
        self, stream: list[StreamRequest], disturb: Callable[[int], None] = lambda step: None
    ) -> dict[str, Answer]:
        """Serve a stream from an empty cache, greedily, and return the answers by request.

        Args:
            stream: What to serve.
            disturb: Called with its number before each step.
        """
        assert self.llm.reset_prefix_cache()
        engine, pending, answers = self.llm.llm_engine, list(reversed(stream)), {}
        step = 0
        while pending or engine.has_unfinished_requests():
            while pending and pending[-1].arrival_step <= step:
                request = pending.pop()
                prompt = {"prompt_token_ids": request.prompt}
                engine.add_request(request.name, prompt, _greedy(request.num_outputs))
            disturb(step)
            for output in engine.step():
                if output.finished:
                    answers[output.request_id] = _answer(output)
            step += 1
            self.clock.now_ns += STEP_NS
            assert step < 20_000, "the stream does not end"
        return answers

    def recompute(self, prompt: list[int], tokens: list[int], piece: int = MAX_MODEL_LEN) -> list[Logits]:
        """The logits before each of ``tokens``, all computed in one prefill of this request alone.

        For an engine without a prefix cache. The logits of a position are those of its best two tokens and of the
        given one.

        Args:
            prompt: The request's prompt.
            tokens: What follows it.
            piece: Tokens a step.
        """
        parameters = SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=2, detokenize=False)
        sequence: Any = {"prompt_token_ids": prompt + tokens}
        budget, self.scheduler.max_num_scheduled_tokens = self.scheduler.max_num_scheduled_tokens, piece
        output = self.llm.generate(sequence, parameters, use_tqdm=False)[0]
        self.scheduler.max_num_scheduled_tokens = budget
        return [_logits(position) for position in output.prompt_logprobs[len(prompt) :]]

    def decode(self, prompt: list[int], tokens: list[int], num_given: int) -> Logits | None:
        """The logits before the last of ``tokens`` when this request alone generates what leads there.

        None if it takes another way, or ranks that token below the second.

        Args:
            prompt: The request's prompt.
            tokens: What follows it.
            num_given: How many of ``tokens`` are part of the prefill.
        """
        sequence: Any = {"prompt_token_ids": prompt + tokens[:num_given]}
        output = self.llm.generate(sequence, _greedy(len(tokens) - num_given), use_tqdm=False)[0]
        answer = _answer(output)
        is_same_way = answer.tokens[:-1] == tokens[num_given:-1]
        return answer.logits[-1] if is_same_way and tokens[-1] in answer.logits[-1] else None

    def close(self) -> None:
        """End the engine, so that the next one may start in this process."""
        self.llm.llm_engine.engine_core.shutdown()
        del self.llm, self.scheduler
        gc.collect()
        cleanup_dist_env_and_memory()


@contextlib.contextmanager
def engine(**options: Any) -> Iterator[InProcessEngine]:
    """An engine for one block of code."""
    running = InProcessEngine(**options)
    try:
        yield running
    finally:
        running.close()


def _greedy(num_outputs: int) -> SamplingParams:
    return SamplingParams(
        max_tokens=num_outputs, temperature=0.0, logprobs=2, detokenize=False, ignore_eos=True,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )  # fmt: skip


def _answer(output: Any) -> Answer:
    completion = output.outputs[0]
    return Answer(list(completion.token_ids), [_logits(position) for position in completion.logprobs])


def _logits(position: Any) -> Logits:
    return {token: entry.logprob for token, entry in position.items()}
