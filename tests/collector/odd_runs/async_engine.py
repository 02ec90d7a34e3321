"""Serves a stream on the real engine, scheduled asynchronously: ``python -m ...async_engine ANSWERS [RUN] [--sync]``.

vLLM's CPU platform turns asynchronous scheduling off as "not required". Engine core, batch queue, AsyncScheduler and
model runner do it there all the same once the platform is kept from that, and once what they ask of CUDA is there:
streams and events, which order copies that a CPU does in order anyway. Nothing else is replaced. Writes the tokens of
each request as JSON; with RUN they are those of a recorded engine.
"""

import contextlib
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

NUM_REQUESTS = 24
MAX_TOKENS = 12


class NothingToOrder:
    """A CUDA stream or event where everything happens in order."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """There is nothing to set up."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


def let_the_cpu_schedule_asynchronously() -> None:
    """Keep vLLM's CPU platform from turning it off."""
    import torch
    from vllm.platforms.cpu import CpuPlatform

    torch.cuda.Event = torch.cuda.Stream = NothingToOrder  # type: ignore[assignment, misc]
    torch.cuda.stream = lambda *_: contextlib.nullcontext()  # type: ignore[assignment]
    torch.cuda.current_stream = NothingToOrder  # type: ignore[assignment]
    check = CpuPlatform.check_and_update_config.__func__  # type: ignore[attr-defined]

    def check_but_for_that(cls: Any, config: Any) -> None:
        check(cls, config)
        config.scheduler_config.async_scheduling = True

    CpuPlatform.check_and_update_config = classmethod(check_but_for_that)  # type: ignore[assignment]


def serve(**arguments: Any) -> list[list[int]]:
    """Serve requests of three documents, all at once, and return their tokens."""
    from vllm import LLM, SamplingParams
    from vllm.inputs import TokensPrompt

    from radixflow.collector.models.model_resolution import resolve_model

    llm = LLM(
        model=str(resolve_model("tiny-hybrid").prepare()), skip_tokenizer_init=True, enable_prefix_caching=True,
        max_num_seqs=8, max_num_batched_tokens=1024, max_model_len=2048, block_size=384, mamba_cache_mode="align",
        **arguments,
    )  # fmt: skip
    core: Any = llm.llm_engine.engine_core.engine_core  # type: ignore[attr-defined]
    print(type(core.scheduler).__name__, "batch queue" if core.batch_queue is not None else "no queue", flush=True)
    rng = random.Random(1)
    documents = [[rng.randrange(5, 500) for _ in range(900)] for _ in range(3)]
    prompts = [
        TokensPrompt(prompt_token_ids=[*rng.choice(documents)[: rng.randrange(400, 900)], rng.randrange(5, 500)])
        for _ in range(NUM_REQUESTS)
    ]
    greedy = SamplingParams(temperature=0, max_tokens=MAX_TOKENS, ignore_eos=True, detokenize=False)
    answers = llm.generate(prompts, greedy, use_tqdm=False)
    core.scheduler.shutdown()
    return [list(answer.outputs[0].token_ids) for answer in answers]


def main(answers: Path, run: Path | None, is_async: bool) -> None:
    """Serve, recorded into an existing run if there is one."""
    from radixflow.collector.engines import vllm_environment

    vllm_environment.prepare_environment(True, False)
    os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1"}
    if is_async:
        let_the_cpu_schedule_asynchronously()
    arguments: dict[str, Any] = {}
    if run is not None:
        name = "RecordedAsyncScheduler" if is_async else "RecordedScheduler"
        settings = {"policy": "radix", "run_directory": str(run), "probe": "full"}
        arguments = {
            "scheduler_cls": f"radixflow.collector.instrumentation.schedulers.{name}",
            "additional_config": {"radixflow": settings},
        }
    answers.write_text(json.dumps(serve(**arguments)))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--sync"]
    main(Path(words[0]), Path(words[1]) if len(words) > 1 else None, "--sync" not in sys.argv)
