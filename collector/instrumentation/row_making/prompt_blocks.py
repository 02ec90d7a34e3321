"""Who shares which prompt content, and what was computed more than once: by the hashes of whole prompt blocks.

A block's hash covers all tokens up to its end, so equal hashes mean equal prefixes. Prompts form a tree: each distinct
block is stored once, with the block before it, and a request names its last one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

MAXIMUM_KEPT = 1_000_000
"""Most hashes that each of the two maps remembers. Beyond it the oldest are forgotten; such a block is stored twice."""


class _FirstTime(NamedTuple):
    round: int
    request: int


class PromptBlocks:
    """The blocks of all prompts of a run.

    Args:
        block_tokens: Tokens of one hashed block.
    """

    def __init__(self, block_tokens: int) -> None:
        self._block_tokens = block_tokens
        self._stored: dict[bytes, None] = {}
        self._computed: dict[bytes, _FirstTime] = {}

    def new_blocks(self, request: int, hashes: Sequence[bytes]) -> list[tuple[Any, ...]]:
        """Rows of table ``block_hashes``: blocks of a prompt that no prompt before it had.

        Args:
            request: Number of the request.
            hashes: Hashes of its whole prompt blocks, from the first.
        """
        # A stored block's prefix is stored, too: the first unknown one is found by halving.
        known = bisect_left(range(len(hashes)), True, key=lambda index: hashes[index] not in self._stored)
        new = hashes[known:]
        self._stored.update(dict.fromkeys(new))
        numbers = [int.from_bytes(block_hash[:8], "little") for block_hash in new]
        parents = [hash_number(hashes[known - 1]) if known else None, *numbers[:-1]]
        rows = list(zip(numbers, parents, range(known, len(hashes)), repeat(request), strict=False))
        _forget_oldest(self._stored)
        return rows

    def repeated(
        self, request: int, hashes: Sequence[bytes], begin_token: int, end_token: int, round_number: int
    ) -> list[tuple[Any, ...]]:
        """Rows of table ``repeated_blocks``: whole blocks of a scheduled interval that a row before it computed.

        Args:
            request: Number of the request.
            hashes: Hashes of all its whole blocks, from the first.
            begin_token: First token of the interval.
            end_token: Position after its last one.
            round_number: The round that schedules it.
        """
        size = self._block_tokens
        first, end = -(-begin_token // size), min(end_token // size, len(hashes))
        mine = _FirstTime(round_number, request)
        rows: list[list[Any]] = []
        for index in range(first, end):
            before = self._computed.setdefault(hashes[index], mine)
            if before is mine or before == mine:
                continue
            if rows and rows[-1][3] == index * size and (rows[-1][4], rows[-1][5]) == before:
                rows[-1][3] += size
            else:
                rows.append([round_number, request, index * size, (index + 1) * size, *before])
        _forget_oldest(self._computed)
        return [tuple(row) for row in rows]


def hash_number(block_hash: bytes | None) -> int | None:
    """The first 64 bits of a block hash, as the tables carry it."""
    return None if block_hash is None else int.from_bytes(block_hash[:8], "little")


def _forget_oldest(kept: dict[bytes, Any]) -> None:
    while len(kept) > MAXIMUM_KEPT:
        del kept[next(iter(kept))]
