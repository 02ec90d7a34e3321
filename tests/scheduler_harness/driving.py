"""Takes rounds of a scheduler and answers them as a model would, with made-up tokens."""

import dataclasses
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.outputs import ModelRunnerOutput

from tests.scheduler_harness.connectors import transfers_done

Round = tuple[SchedulerOutput, ModelRunnerOutput]


def _token(scheduler: Scheduler, request_id: str) -> int:
    # By position alone, so that twins of one prompt also share what they generate, and eos (1) is never met.
    return 5 + scheduler.requests[request_id].num_computed_tokens * 31 % 97


def fabricate_output(scheduler: Scheduler, output: SchedulerOutput) -> ModelRunnerOutput:
    """Returns what the model runner would: one token for each row that ends its prefill or decodes.

    A row with draft tokens answers as if every other one of them had been accepted. To be called before the next
    `schedule()`, which under async scheduling moves the requests on.
    """
    request_ids = list(output.num_scheduled_tokens)
    tokens = [
        []
        if scheduler.requests[r].is_prefill_chunk or scheduler.requests[r].pooling_params
        else [_token(scheduler, r)] * (1 + len(output.scheduled_spec_decode_tokens.get(r, ())) // 2)
        for r in request_ids
    ]
    return ModelRunnerOutput(
        req_ids=request_ids,
        req_id_to_index={request_id: index for index, request_id in enumerate(request_ids)},
        sampled_token_ids=tokens,
        pooler_output=_pooled([scheduler.requests[r] for r in request_ids]),
        kv_connector_output=transfers_done(scheduler, output),
    )


def _pooled(requests: list[Any]) -> list[torch.Tensor | None] | None:
    """What a pooling model answers for each row: a vector once the prompt is computed."""
    if not any(request.pooling_params for request in requests):
        return None
    return [None if request.is_prefill_chunk else torch.zeros(1) for request in requests]


def schedule_round(scheduler: Scheduler, throttle_prefills: bool = False) -> Round:
    """Takes one scheduling decision; under async scheduling its answer may be handed in a round later."""
    output = scheduler.schedule(throttle_prefills) if throttle_prefills else scheduler.schedule()
    return output, fabricate_output(scheduler, output)


def update_round(scheduler: Scheduler, taken: Round) -> None:
    """Hands the answer of an earlier round to the scheduler."""
    scheduler.update_from_output(*taken)


def run_round(scheduler: Scheduler) -> SchedulerOutput:
    """Takes one round and answers it at once."""
    taken = schedule_round(scheduler)
    update_round(scheduler, taken)
    return taken[0]


def drain(
    scheduler: Scheduler,
    on_round: Callable[[SchedulerOutput], Any] | None = None,
    *,
    max_rounds: int = 100_000,
    max_empty_rounds: int = 100,
) -> int:
    """Runs the scheduler until no request is left; returns the number of rounds that scheduled tokens.

    Under async scheduling one round is always in flight. Fails when the scheduler makes no progress.
    """
    depth = 1 if scheduler.scheduler_config.async_scheduling else 0
    in_flight: deque[Round] = deque()
    num_rounds = num_empty = 0
    while scheduler.has_unfinished_requests() or in_flight:
        in_flight.append(schedule_round(scheduler))
        output = in_flight[-1][0]
        if on_round is not None:
            on_round(output)
        num_empty = 0 if output.total_num_scheduled_tokens else num_empty + 1
        num_rounds += bool(output.total_num_scheduled_tokens)
        assert num_empty <= max_empty_rounds, "no progress: the scheduler answers nothing but empty rounds"
        assert num_rounds <= max_rounds, "no end: more rounds than allowed"
        while len(in_flight) > depth or (in_flight and not scheduler.has_unfinished_requests()):
            update_round(scheduler, in_flight.popleft())
    return num_rounds


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    return value if isinstance(value, str | int | float | bool | bytes | None) else repr(type(value))


def output_digest(output: SchedulerOutput) -> dict[str, Any]:
    """Returns everything that `schedule()` said, as plain comparable values in row order.

    Row order counts: `num_scheduled_tokens` is listed, since equal dicts may differ in order.
    """
    return _plain(output)[1] | {"row_order": list(output.num_scheduled_tokens)}
