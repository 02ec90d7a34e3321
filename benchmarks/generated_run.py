"""A run of any length, written at the speed of the disk: what the views are timed on.

Every fifth round starts a request of 1,200 prompt tokens, 1,000 of them reused; it takes 50 rows (one of 200 tokens,
49 of one). So rounds hold 10 rows of 16, and 10 waiting requests are looked at in each: one refused by the scan, which
stops there, 5 found READY and 4 blocked by the probe. Files are as the writer leaves them. Both ledgers close, and
``check`` finds no fault.

Run: python -m benchmarks.generated_run FOLDER [--rounds 1000000]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from radixflow.schema.run_files.atomic_files import write_json_atomically
from radixflow.schema.run_files.manifest import Manifest, write_manifest
from radixflow.schema.run_files.run_directory import create_run
from radixflow.schema.run_files.segment_names import SegmentName
from radixflow.schema.segments.compaction import MERGED_ROWS
from radixflow.schema.segments.encoding import write_segment
from radixflow.schema.tables import ALL_TABLES

CAPACITY, ROWS, VISITS, ROUNDS_A_REQUEST = 16, 10, 10, 5
READY = 5
ROUND_NS = 10_000_000
ORIGIN_NS = 1_000_000_000_000
Columns = dict[str, Any]


def _start_ns(rounds: Any) -> Any:
    """Rounds last about 10 ms; the jitter is the same in every table."""
    return ORIGIN_NS + (rounds - 1) * ROUND_NS + (rounds * 7919) % 100_000


def _first_round(request: Any) -> Any:
    return request * ROUNDS_A_REQUEST + 1


def _running(number: Any, num_requests: int) -> tuple[Any, Any]:
    """Return the first and the last request that run in a round; at the end no new one starts."""
    turn = (number - 1) // ROUNDS_A_REQUEST
    return np.maximum(turn - ROWS + 1, 0), np.minimum(turn, num_requests - 1)


def _rounds(first: int, last: int, num_requests: int) -> Columns:
    number = np.arange(first, last)
    oldest, newest = _running(number, num_requests)
    used = newest - oldest + 1
    is_new = number == _first_round(newest)
    waiting = np.minimum(VISITS, num_requests - 1 - newest)
    ready = np.minimum(READY, np.maximum(waiting - 1, 0))
    left = CAPACITY - used
    avoidable = np.minimum(left, ready)
    dependency = np.minimum(left - avoidable, waiting - ready)
    start = _start_ns(number)
    return {
        "round": number, "schedule_start_ns": start, "schedule_end_ns": start + 300_000, "row_capacity": CAPACITY,
        "rows_used": used, "rows_avoidable": avoidable, "rows_dependency_wait": dependency, "rows_held": 0,
        "rows_token_limited": 0, "rows_other": 0, "rows_no_work": left - avoidable - dependency,
        "token_budget": 4096, "tokens_scheduled": used + 199 * is_new, "tokens_avoidable": 200 * ready,
        "num_rows_new": is_new, "num_rows_resumed": 0, "num_rows_running": used - is_new,
        "num_running_before": used - is_new, "num_waiting_before": waiting + is_new, "num_waiting_after": waiting,
        "num_held": 0, "num_visits": is_new + np.minimum(waiting, 1), "num_blocked_visits": np.minimum(waiting, 1),
        "num_probed": np.maximum(waiting - 1, 0), "num_preempted": 0,
        "stop_reason": np.where(waiting > 0, "blocked", "end_of_queue"),
        "stop_request": (newest + 1, waiting > 0),
        "stop_cause": (np.where(_is_marked(newest + 1), "marked_again", "being_written"), waiting > 0),
        "probe_end_reason": ("end_of_queue", waiting > 1),
        "num_free_blocks": 1000, "num_empty_steps": 0, "update_start_ns": start + 9_000_000,
        "update_end_ns": start + 9_200_000, "probe_ns": 50_000, "recorder_ns": 20_000,
    }  # fmt: skip


def _rows(first: int, last: int, num_requests: int) -> Columns:
    number, slot = (part.ravel() for part in np.meshgrid(np.arange(first, last), np.arange(ROWS), indexing="ij"))
    oldest, newest = _running(number, num_requests)
    request = oldest + slot
    there = request <= newest
    number, slot, request = number[there], slot[there], request[there]
    age = number - 1 - request * ROUNDS_A_REQUEST
    is_new = age == 0
    return {
        "round": number, "slot": slot, "request": request, "kind": np.where(is_new, "new", "running"),
        "first_token": np.where(is_new, 1000, 1199 + age), "num_tokens": np.where(is_new, 200, 1),
        "num_reused_tokens": np.where(is_new, 1000, 0), "restored_hash": (request // 4 + 1, is_new),
        "published_hash": (request + 2**40, is_new),
        "visit": (slot, is_new),
    }  # fmt: skip


def _is_marked(request: Any) -> Any:
    """Whether the state that a request waits for was published before."""
    return request // 4 % 3 == 0


def _visits(first: int, last: int, num_requests: int) -> Columns:
    number, place = (part.ravel() for part in np.meshgrid(np.arange(first, last), np.arange(VISITS), indexing="ij"))
    _, newest = _running(number, num_requests)
    request = newest + 1 + place
    there = request < num_requests
    number, place, request, newest = number[there], place[there], request[there], newest[there]
    is_ready = (place > 0) & (place <= READY)
    is_marked = ~is_ready & _is_marked(request)
    cause = np.where(is_marked, "marked_again", "being_written")
    return {
        "round": number, "last_round": number, "visit": place + (number == _first_round(newest)), "request": request,
        "witness": np.where(place == 0, "native", "probe"), "outcome": np.where(is_ready, "ready", "blocked"),
        "reason": None, "cause": (cause, ~is_ready), "matched_tokens": np.where(is_ready, 0, 1000), "ready_tokens": 0,
        "awaited_hash": (request // 4 + 1, ~is_ready), "num_tokens": (np.full(len(number), 200), is_ready),
    }  # fmt: skip


def _awaited_states(first: int, last: int, num_requests: int) -> Columns:
    """The head of the queue waits for one state, those behind the READY ones for others; four requests share one."""
    places = np.array([0, *range(READY + 1, VISITS)])
    number, place = (part.ravel() for part in np.meshgrid(np.arange(first, last), places, indexing="ij"))
    _, newest = _running(number, num_requests)
    request = newest + 1 + place
    there = request < num_requests
    number, place, request, newest = number[there], place[there], request[there], newest[there]
    is_first = np.ones(len(number), dtype=bool)
    is_first[1:] = (number[1:] != number[:-1]) | (request[1:] // 4 != request[:-1] // 4)
    count = np.diff(np.append(np.flatnonzero(is_first), len(number)))
    number, place, request, newest = number[is_first], place[is_first], request[is_first], newest[is_first]
    is_marked = _is_marked(request)
    return {
        "round": number, "awaited_hash": request // 4 + 1,
        "cause": np.where(is_marked, "marked_again", "being_written"), "producer": newest,
        "published_round": (np.maximum(number - 1, 1), is_marked), "num_visits": (place == 0).astype(int),
        "num_probe_visits": count - (place == 0), "publisher": (newest, is_marked),
        "completed_ns": (_start_ns(np.maximum(number - 1, 1)) + 9_200_000, is_marked),
    }  # fmt: skip


def _spans(first: int, last: int, num_requests: int) -> Columns:
    number = np.repeat(np.arange(first, last), 2)
    is_sample = np.tile([False, True], last - first)
    start = _start_ns(number) + np.where(is_sample, 8_000_000, 400_000)
    cost = np.where(is_sample, 500_000, 7_000_000 + number * 104_729 % 500_000)
    component = np.where(is_sample, "sample", "execute")
    return {
        "round": number, "component": component, "process_rank": 0, "clock": "host", "start_ns": start,
        "end_ns": start + cost,
    }  # fmt: skip


def _registrations(first: int, last: int, num_requests: int) -> Columns:
    number = np.arange(first, last)
    return {
        "request": number, "request_id": _names(number), "num_prompt_tokens": 1200,
        "registered_ns": _start_ns(_first_round(number)) - 400_000_000, "last_block_hash": number // 4 + 1,
    }  # fmt: skip


def _requests(first: int, last: int, num_requests: int) -> Columns:
    number = np.arange(first, last)
    selected = _start_ns(_first_round(number))
    return {
        "request": number, "request_id": _names(number), "num_prompt_tokens": 1200,
        "registered_ns": selected - 400_000_000, "released_ns": selected - 400_000_000, "first_selected_ns": selected,
        "first_selected_round": _first_round(number), "finished_ns": selected + 50 * ROUND_NS,
        "num_reused_tokens": 1000, "num_scheduled_tokens": 249, "num_scheduled_prompt_tokens": 200,
        "num_repeated_tokens": 0, "num_output_tokens": 50, "num_preemptions": 0,
        "num_blocked_visits": np.where(number > 0, ROUNDS_A_REQUEST, 0), "num_rows": 50, "outcome": "finished",
    }  # fmt: skip


def _offers(first: int, last: int, num_requests: int) -> Columns:
    number = np.arange(first, last)
    selected = _start_ns(_first_round(number))
    return {
        "request_id": _names(number), "request_group": number // 4, "branch": number % 4,
        "dataset": np.where(number // 4 % 2 == 0, "long", "short"), "regime": "mixed", "input_order": "given",
        "num_prompt_tokens": 1200, "max_output_tokens": 50, "offered_ns": selected - 401_000_000,
        "sent_ns": selected - 400_900_000, "first_output_ns": selected + 11_000_000,
        "completed_ns": selected + 51 * ROUND_NS + number * 7907 % 1_000_000, "num_output_tokens": 50,
        "first_token_id": number % 512, "outcome": "completed", "outcome_reason": None,
    }  # fmt: skip


def _events(first: int, last: int, num_requests: int) -> Columns:
    number = np.repeat(np.arange(first, last), 3)
    kind = np.tile(np.arange(3), last - first)
    selected = _start_ns(_first_round(number))
    return {
        "time_ns": selected + np.choose(kind, [-400_000_000, 0, 50 * ROUND_NS]), "request": number,
        "event": np.array(["arrived", "selected", "finished"])[kind], "round": (_first_round(number), kind == 1),
        "other_request": None, "detail": None, "num_rounds": None,
    }  # fmt: skip


def _block_hashes(first: int, last: int, num_requests: int) -> Columns:
    """Five blocks of 200 tokens are shared by four requests each."""
    number = np.arange(first, last)
    number = np.repeat(number[number % 4 == 0], 5)
    block = np.arange(len(number)) % 5
    block_hash = np.where(block == 4, 0, (block + 1) << 40) + number // 4 + 1
    return {
        "block_hash": block_hash, "parent_hash": ((block << 40) + number // 4 + 1, block > 0), "block": block,
        "request": number,
    }  # fmt: skip


def _repeated_blocks(first: int, last: int, num_requests: int) -> Columns:
    """One request of ten computes a block that the one before it had computed."""
    number = np.arange(max(first, 1), last)
    number = number[number % 10 == 1]
    return {
        "round": _first_round(number), "request": number, "begin_token": 1000, "end_token": 1200,
        "first_round": _first_round(number - 1), "first_request": number - 1,
    }  # fmt: skip


def _names(number: Any) -> Any:
    return np.char.add(np.char.add("q", (number // 4).astype(str)), np.char.add("-b", (number % 4).astype(str)))


_BY_ROUND = {
    "rounds": (_rounds, 1), "rows": (_rows, ROWS), "visits": (_visits, VISITS),
    "awaited_states": (_awaited_states, VISITS - READY), "spans": (_spans, 2),
}  # fmt: skip
_BY_REQUEST = {
    "registrations": (_registrations, 1), "requests": (_requests, 1), "offers": (_offers, 1), "events": (_events, 3),
    "block_hashes": (_block_hashes, 1), "repeated_blocks": (_repeated_blocks, 1),
}  # fmt: skip


def encode(columns: Columns, schema: pa.Schema) -> pa.Table:
    """Encode columns by a declared schema: an array, one value for all, or (value, where it is defined)."""
    length = len(next(iter(columns.values())))
    arrays = []
    for field in schema:
        values, mask = columns[field.name], None
        if isinstance(values, tuple):
            values, defined = values
            mask = ~defined
        if values is None:
            arrays.append(pa.nulls(length, field.type))
            continue
        if not isinstance(values, np.ndarray):
            values = np.full(length, values)
        plain = pa.string() if pa.types.is_dictionary(field.type) else field.type
        array = pa.array(values, mask=mask).cast(plain)
        arrays.append(array.dictionary_encode().cast(field.type) if plain != field.type else array)
    return pa.Table.from_arrays(arrays, schema=schema)


def _chunks(length: int, size: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + size, length)) for start in range(0, length, size))


def generate(path: Path, num_rounds: int, rows_of_file: int = MERGED_ROWS, **facts: Any) -> Path:
    """Write a run of ``num_rounds`` rounds, a multiple of 5 beyond 50, and return its path.

    Args:
        path: The run directory; replaced if it exists.
        num_rounds: Rounds; ten times as many rows and visits, a fifth as many requests.
        rows_of_file: Rows of one segment.
        facts: Replace facts of the manifest.
    """
    num_requests = num_rounds // ROUNDS_A_REQUEST - ROWS + 1
    create_run(path, _manifest(num_requests, **facts), force=True)
    tables: dict[str, int] = {}
    for makers, length, first in ((_BY_ROUND, num_rounds, 1), (_BY_REQUEST, num_requests, 0)):
        for name, (make, rows_each) in makers.items():
            (path / name).mkdir(exist_ok=True)
            tables[name] = 0
            for place, (start, end) in enumerate(_chunks(length, max(1, rows_of_file // rows_each))):
                table = encode(make(start + first, end + first, num_requests), ALL_TABLES[name])
                segment = SegmentName("client" if name == "offers" else "engine", 10 * place, 10 * place + 9)
                write_segment(path / name / str(segment), table, durable=False)
                tables[name] += table.num_rows
    _close(path, tables, num_requests, **facts)
    return path


def _manifest(num_requests: int, **facts: Any) -> Manifest:
    arguments = {"max_num_seqs": CAPACITY, "max_num_batched_tokens": 4096, "async_scheduling": False}
    workload = {"name": "generated", "digest": "9e" * 32, "seed": 0, "num_requests": num_requests, "regime": "mixed"}
    known = {
        "experiment": "generated", "stream": "long", "policy": "radix", "policy_effective": "prefix-stop",
        "engine_kind": "simulated", "engine_arguments": arguments, "workload": workload,
        "model": {"name": "generated", "is_hybrid": True, "block_size": 200}, "versions": {"vllm": "0.32.0"},
    }  # fmt: skip
    return Manifest(**(known | facts))


def _close(path: Path, tables: dict[str, int], num_requests: int, **facts: Any) -> None:
    (path / "writers").mkdir(exist_ok=True)
    for writer in ("client", "engine"):
        written = {name: count for name, count in tables.items() if (name == "offers") == (writer == "client")}
        status = {"writer": writer, "rows_written": written, "drops": {}, "faults": [], "closed": True}
        write_json_atomically(path / "writers" / f"{writer}.json", status)
    manifest = _manifest(num_requests, **facts)
    manifest.tables, manifest.state = tables, "complete"
    write_manifest(path, manifest)


def main(arguments: list[str]) -> int:
    """Write one run where the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--rows-of-file", type=int, default=MERGED_ROWS)
    chosen = parser.parse_args(arguments)
    generate(chosen.folder, chosen.rounds, chosen.rows_of_file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
