"""Turns a stall into its row, and into what the writer's status says of one that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from radixflow.collector.instrumentation.notes.stall_notes import Stall
from radixflow.collector.instrumentation.row_making.request_lives import RequestLife
from radixflow.schema.tables.stalls import STALLS


def stall_row(stall: Stall, lives: Mapping[str, RequestLife]) -> tuple[Any, ...]:
    """The row of table ``stalls``, with the numbers of the requests that it names."""
    facts = stall.facts
    numbered = facts._replace(
        head_request=_number(facts.head_request, lives),  # type: ignore[arg-type]
        stop_request=_number(facts.stop_request, lives),  # type: ignore[arg-type]
    )
    return (stall.start_ns, stall.end_ns, stall.num_steps, *numbered)


def stall_status(stall: Stall, lives: Mapping[str, RequestLife], now_ns: int) -> dict[str, Any]:
    """Say of a stall that goes on what its row would, with the names of its requests, and at which time that was.

    Args:
        stall: The stall.
        lives: The requests.
        now_ns: Monotonic time of the moment.
    """
    row = dict(zip(STALLS.names, stall_row(stall, lives), strict=True))
    names = {"head_request_id": stall.facts.head_request, "stop_request_id": stall.facts.stop_request}
    return row | names | {"said_ns": now_ns}


def _number(request_id: str | None, lives: Mapping[str, RequestLife]) -> int | None:
    life = lives.get(request_id) if request_id is not None else None
    return None if life is None else life.number
