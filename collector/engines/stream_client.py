"""Sends each request of a stream when it is due and follows it to its end, on any kind of engine."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Protocol

from radixflow.collector.engines.offer_log import Offer, OfferLog
from radixflow.collector.workloads.offered_request import OfferedRequest

LEAD_NS = 20_000_000
"""Time between the decision to start and the first request, so that setting up makes no request late."""


class RefusedRequest(Exception):
    """The engine refuses this one request and goes on."""


class EngineFailure(Exception):
    """The engine as a whole has failed."""


class TokenEngine(Protocol):
    """What a stream is sent to."""

    def generate(self, request: OfferedRequest) -> AsyncIterator[list[int]]:
        """Send a request and yield its new output tokens as they come.

        Raises:
            RefusedRequest: the engine does not take this request.
            EngineFailure: the engine is gone.
        """
        ...


async def send_stream(engine: TokenEngine, offers: list[Offer], log: OfferLog) -> None:
    """Send each request when it is due, open loop: a slow engine does not slow the sender.

    Returns when every request has ended.

    Raises:
        EngineFailure: the engine is gone; what had not ended is still open in the log.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            for offer in offers:
                await _sleep_until(offer.offered_ns)
                tasks.create_task(_follow(engine, offer, log))
    except BaseExceptionGroup as group:  # not except*: before Python 3.11.4 it would wrap what is raised here
        failed = group.subgroup(EngineFailure)
        if failed is None:
            raise
        raise EngineFailure(str(_first_leaf(failed))) from group


def _first_leaf(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _sleep_until(due_ns: int) -> None:
    remaining = due_ns - time.monotonic_ns()
    if remaining > 0:
        await asyncio.sleep(remaining / 1e9)


async def _follow(engine: TokenEngine, offer: Offer, log: OfferLog) -> None:
    offer.sent_ns = time.monotonic_ns()
    try:
        async for token_ids in engine.generate(offer.request):
            if token_ids:
                _note(offer, token_ids, time.monotonic_ns())
    except RefusedRequest as error:
        log.end(offer, "failed", str(error))
        return
    offer.completed_ns = time.monotonic_ns()
    log.end(offer, "completed")


def _note(offer: Offer, token_ids: list[int], now_ns: int) -> None:
    if offer.first_output_ns is None:
        offer.first_output_ns, offer.first_token_id = now_ns, token_ids[0]
    offer.num_output_tokens += len(token_ids)
