"""vLLM's engine core in this very process, step by step, with the CPU time of each part of a step.

One engine serves many streams, each under a scheduler of its own, so that ways of scheduling and recording can be
measured in turn on the same model and in the same process.
"""

from __future__ import annotations

import copy
import gc
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from radixflow.collector.workloads.offered_request import OfferedRequest


class RoundCost(NamedTuple):
    """CPU time of the engine's thread in one round (ns), without that of other threads.

    Attributes:
        num_rows: Requests scheduled.
        arrival_ns: In add_request(), for the requests that came since the round before.
        schedule_ns: In schedule().
        update_ns: In update_from_output().
        worker_ns: In the executor and the worker, but for the forward pass.
        forward_ns: In the forward pass.
        wall_ns: Wall time of the round, all in all.
    """

    num_rows: int
    arrival_ns: int
    schedule_ns: int
    update_ns: int
    worker_ns: int
    forward_ns: int
    wall_ns: int

    @property
    def scheduler_ns(self) -> int:
        """CPU time of everything that the scheduler does for a round."""
        return self.arrival_ns + self.schedule_ns + self.update_ns

    @property
    def total_ns(self) -> int:
        """CPU time of the whole round."""
        return self.scheduler_ns + self.worker_ns + self.forward_ns


class InProcessEngine:
    """An engine core with a worker in this process.

    Args:
        arguments: vLLM's engine arguments; the worker class records spans only when it is told to.
    """

    def __init__(self, arguments: Any) -> None:
        from vllm.v1.engine.core import EngineCore
        from vllm.v1.executor.abstract import Executor

        self.config = arguments.create_engine_config()
        self._core = EngineCore(self.config, Executor.get_class(self.config), log_stats=False)
        self.worker: Any = self._core.model_executor.driver_worker.worker
        self._forward_ns = 0
        self._count_forward(self.worker.model_runner)

    def _count_forward(self, runner: Any) -> None:
        native = runner._model_forward

        def counted(*args: Any, **kwargs: Any) -> Any:
            started_ns = time.thread_time_ns()
            result = native(*args, **kwargs)
            self._forward_ns += time.thread_time_ns() - started_ns
            return result

        runner._model_forward = counted

    def new_scheduler(self, scheduler_cls: Any, additional_config: dict[str, Any]) -> Any:
        """A scheduler over an empty cache of this engine.

        Args:
            scheduler_cls: Its class.
            additional_config: What it finds in ``VllmConfig.additional_config``.
        """
        config, native = copy.copy(self.config), self._core.scheduler
        config.additional_config = additional_config
        return scheduler_cls(
            vllm_config=config,
            kv_cache_config=native.kv_cache_config,
            structured_output_manager=self._core.structured_output_manager,
            block_size=native.block_size,
            hash_block_size=native.hash_block_size,
            log_stats=False,
        )

    def serve(self, scheduler: Any, requests: Sequence[OfferedRequest], steps: Sequence[int]) -> list[RoundCost]:
        """Serve a stream to its end and return the cost of each round.

        Args:
            scheduler: Without requests.
            requests: The stream.
            steps: The step before which each request arrives; in order.
        """
        waiting = list(zip(steps, (self._request(offered) for offered in requests), strict=True))[::-1]
        costs: list[RoundCost] = []
        step = 0
        gc.collect()
        while waiting or scheduler.has_requests():
            started_ns = time.thread_time_ns()
            while waiting and waiting[-1][0] <= step:
                scheduler.add_request(waiting.pop()[1])
            cost = self._step(scheduler, time.thread_time_ns() - started_ns)
            if cost.num_rows:
                costs.append(cost)
            step += 1
        return costs

    def _request(self, offered: OfferedRequest) -> Any:
        from vllm import SamplingParams
        from vllm.v1.request import Request

        return Request(
            request_id=offered.request_id,
            prompt_token_ids=list(offered.prompt_token_ids),
            sampling_params=SamplingParams(max_tokens=offered.max_output_tokens, temperature=0.0, ignore_eos=True),
            pooling_params=None,
            arrival_time=0.0,
            block_hasher=self._core.request_block_hasher,
        )

    def _step(self, scheduler: Any, arrival_ns: int) -> RoundCost:
        """One step as ``EngineCore.step`` takes it."""
        executor = self._core.model_executor
        self._forward_ns = 0
        wall_ns, times = time.monotonic_ns(), [time.thread_time_ns()]
        output = scheduler.schedule()
        times.append(time.thread_time_ns())
        future = executor.execute_model(output, non_block=True)
        grammar = scheduler.get_grammar_bitmask(output)
        answer = future.result()
        if answer is None:
            answer = executor.sample_tokens(grammar)
        times.append(time.thread_time_ns())
        scheduler.update_from_output(output, answer)
        times.append(time.thread_time_ns())
        schedule_ns, worker_ns, update_ns = (end - start for start, end in pairwise(times))
        return RoundCost(
            len(output.num_scheduled_tokens), arrival_ns, schedule_ns, update_ns, worker_ns - self._forward_ns,
            self._forward_ns, time.monotonic_ns() - wall_ns,
        )  # fmt: skip

    def close(self) -> None:
        """Shut the worker down."""
        self._core.shutdown()
