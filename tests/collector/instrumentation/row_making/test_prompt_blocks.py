"""What prompts share and what is computed twice, by value and against the tokens themselves."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from radixflow.collector.instrumentation.row_making.prompt_blocks import PromptBlocks, hash_number

pytest.importorskip("vllm")

from radixflow.collector.instrumentation.schedulers import RecordedScheduler
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.scheduler_harness import build_scheduler, drain, make_request, run_round

A, B, C, D = (bytes([letter]) * 32 for letter in b"abcd")
BLOCK = 16
NUM_OUTPUTS = 20


def test_a_block_is_stored_once_behind_its_parent() -> None:
    blocks = PromptBlocks(16)
    number = {each: hash_number(each) for each in (A, B, C)}
    assert blocks.new_blocks(0, [A, B]) == [(number[A], None, 0, 0), (number[B], number[A], 1, 0)]
    assert blocks.new_blocks(1, [A, C]) == [(number[C], number[A], 1, 1)]
    assert blocks.new_blocks(2, [A, B]) == blocks.new_blocks(3, []) == []


def test_whole_blocks_of_another_request_are_repeats() -> None:
    blocks = PromptBlocks(16)
    assert blocks.repeated(0, [A, B, C], 0, 40, 1) == []
    assert blocks.repeated(1, [A, B, D], 0, 48, 2) == [(2, 1, 0, 32, 1, 0)], "D is new"
    assert blocks.repeated(0, [A, B, C], 0, 32, 2) == [(2, 0, 0, 32, 1, 0)], "the recorder leaves out its own"
    assert blocks.repeated(2, [A, B, C], 8, 40, 3) == [(3, 2, 16, 32, 1, 0)], "half a block counts for nothing"
    assert blocks.repeated(3, [A, B, C], 32, 33, 4) == []


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("radixflow.collector.instrumentation.row_making.prompt_blocks.MAXIMUM_KEPT", 2)
    blocks = PromptBlocks(16)
    for number, block_hash in enumerate((A, B, C)):
        blocks.new_blocks(number, [block_hash])
        blocks.repeated(number, [block_hash], 0, 16, number + 1)
    assert blocks.new_blocks(3, [C]) == []
    assert len(blocks.new_blocks(4, [A])) == 1
    assert blocks.repeated(5, [B], 0, 16, 9) == [(9, 5, 0, 16, 2, 1)]


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[tuple[Any, list[list[int]], duckdb.DuckDBPyConnection]]:
    """A stream of prompts that share prefixes, in a pool so small that states are evicted and computed again."""
    create_run(tmp_path / "run", Manifest("e", "s", "radixflow"))
    settings = {"policy": "radixflow+frag", "run_directory": str(tmp_path / "run"), "probe": "full"}
    scheduler: Any = build_scheduler(
        RecordedScheduler, block_size=BLOCK, max_num_seqs=8, max_num_batched_tokens=100, num_blocks=120,
        additional_config={"radixflow": settings},
    )  # fmt: skip
    rng = random.Random(1)
    documents = [[rng.randrange(5, 500) for _ in range(BLOCK * 5 + 3)] for _ in range(6)]
    prompts = [documents[rng.randrange(6)][: rng.randrange(20, 83)] + [rng.randrange(5, 500)] * 9 for _ in range(60)]
    prompts += prompts[:12]  # twins answer alike, so that their decodes complete equal blocks
    for number, prompt in enumerate(prompts):
        scheduler.add_request(make_request(scheduler, str(number), prompt, max_tokens=NUM_OUTPUTS))
        if number % 3 == 0:
            run_round(scheduler)
    drain(scheduler)
    scheduler.shutdown()
    with open_runs([tmp_path / "run"]) as connection:
        yield scheduler, prompts, connection


def test_the_tree_says_what_prompts_share(recorded: tuple[Any, list[list[int]], duckdb.DuckDBPyConnection]) -> None:
    """Walking up from the last blocks of two requests, equal blocks are exactly the equal prefixes."""
    _, prompts, connection = recorded
    parents = dict(connection.execute("SELECT block_hash, parent_hash FROM block_hashes").fetchall())
    last = dict(connection.execute("SELECT request_id::INTEGER, last_block_hash FROM registrations").fetchall())

    def way(block: int | None) -> list[int]:
        return [] if block is None else [*way(parents[block]), block]

    ways = [way(last[number]) for number in range(len(prompts))]
    assert [len(each) for each in ways] == [len(prompt) // BLOCK for prompt in prompts]
    shared = 0
    for one, first in enumerate(prompts):
        for other, second in enumerate(prompts[:one]):
            tokens = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(second))
            blocks = sum(a == b for a, b in zip(ways[one], ways[other], strict=False))
            assert blocks == min(tokens, len(first), len(second)) // BLOCK
            shared += blocks
    assert shared > 100


def test_repeats_are_what_the_rows_computed_twice(
    recorded: tuple[Any, list[list[int]], duckdb.DuckDBPyConnection],
) -> None:
    """Recounted from the rows and the tokens alone; blocks that decodes complete lie in pieces of many rows."""
    _, prompts, connection = recorded
    outputs = [[5 + place * 31 % 97 for place in range(len(p), len(p) + NUM_OUTPUTS)] for p in prompts]  # as answered
    tokens = [prompt + output for prompt, output in zip(prompts, outputs, strict=True)]
    rows = connection.execute(
        "SELECT request_id::INTEGER, first_token, first_token + num_tokens, round FROM rows JOIN requests "
        "USING (run, request) ORDER BY round, slot"
    ).fetchall()
    first: dict[tuple[int, ...], int] = {}
    computed: dict[int, set[int]] = {number: set() for number in range(len(prompts))}
    expected = 0
    num_in_pieces = 0
    for number, begin, end, _ in rows:
        for stop in range(BLOCK, end + 1, BLOCK):
            block = set(range(stop - BLOCK, stop))
            if block <= computed[number] | set(range(begin, end)) and not block <= computed[number]:
                expected += BLOCK * (first.setdefault(tuple(tokens[number][:stop]), number) != number)
                num_in_pieces += stop - BLOCK < begin and first[tuple(tokens[number][:stop])] != number
        computed[number] |= set(range(begin, end))
    assert num_in_pieces > 0
    asked = "SELECT sum(num_tokens) FROM repeated_intervals WHERE cause <> 'preemption'"
    assert connection.execute(asked).fetchall() == [(expected,)]
    assert expected > 0


def test_events_tell_of_every_hold_deferral_and_overtaking_once(
    recorded: tuple[Any, list[list[int]], duckdb.DuckDBPyConnection],
) -> None:
    _, _, connection = recorded
    kinds = dict(connection.execute("SELECT event, count(*) FROM events GROUP BY event").fetchall())
    for event, times in (("held", "> 1"), ("overtaken", "> 1"), ("arrived", "<> 1"), ("selected", "<> 1")):
        assert kinds[event] > 0
        asked = f"SELECT request FROM events WHERE event = '{event}' GROUP BY request HAVING count(*) {times}"
        assert connection.execute(asked).fetchall() == []
    assert kinds["deferred"] > 0
    held = "SELECT count(DISTINCT request) FROM events WHERE event = 'held'"
    released = "SELECT count(DISTINCT request) FROM events WHERE event = 'released'"
    assert connection.execute(f"SELECT ({held}) <= ({released})").fetchall() == [(True,)]
    overtaken = connection.execute(
        "SELECT early.first_selected_round, late.first_selected_round, early.request < late.request, events.round "
        "FROM events JOIN requests AS early USING (run, request) "
        "JOIN requests AS late ON late.run = events.run AND late.request = events.other_request "
        "WHERE event = 'overtaken'"
    ).fetchall()
    assert all(early > late and ordered and late == told for early, late, ordered, told in overtaken)
    ((num_overtaken,),) = connection.execute("SELECT count(*) FROM request_waits WHERE num_overtakes > 0").fetchall()
    assert kinds["overtaken"] <= num_overtaken
