"""Speed of the views on a long run: opening, every view of a whole run, every window of the timeline.

DuckDB is held to 2 threads and 3 GB, so that the process stays below 4. Opening and windows run once to warm up and
then ``--repeats`` times; the table says the median and the range of wall time, the processor time of the median run
(what the wall time would be on one idle core, at most), and the target. A view of a whole run is asked once with an
empty cache of summaries (``first``: what somebody waits who opens the run for the first time), then ``--repeats``
times, each after opening the run anew. The run is written first unless the folder already holds one; the cache is one
of the benchmark's own.

Run: python -m benchmarks.views FOLDER [--rounds 1000000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb

from benchmarks.generated_run import generate
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.reading.summaries import use_summaries
from radixflow.schema.reading.windows import RoundRange, rounds_in_window, window
from radixflow.schema.run_files.manifest import is_run

OVERVIEW = (
    "runs", "run_summary", "stop_reasons", "slot_totals", "slot_ledger", "slot_causes", "fullness_distribution",
    "visit_outcomes", "host_times", "restored_summary", "repeated_tokens",
    "blocking_causes", "blocking_witnesses", "blocking_recovery", "awaited_producers", "reuse_summary",
    "latency_summary",
    "cost_summary", "token_ledger", "capacity_bound", "load_curve", "ledger_faults",
)  # fmt: skip
"""Views of one row, or a few, a run: what pages show before anything is chosen."""
PAIRED = ("paired_summary", "cost_shift", "cost_shift_by_shape", "output_audit")
"""Views of a pair, timed over the run opened twice."""
IN_DEPTH = ("starvation",)
"""Views of a whole run that look at every request by itself; no target."""
BY_ROUND = ("round_occupancy", "slot_cells", "blocked_visits", "round_ends")
WINDOWS_MS = (300.0, 3_000.0)
SMALL = 1_000_000


class Timing(NamedTuple):
    """Wall and processor time of one query, in seconds."""

    wall: float
    processor: float


def measure(work: Callable[[], object], repeats: int) -> list[Timing]:
    """Do it once to warm up, then time it."""
    work()
    timings = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        timings.append(Timing(time.perf_counter() - wall, time.process_time() - processor))
    return timings


def report(name: str, timings: list[Timing], target_s: float) -> None:
    """Print one line of the table."""
    walls = sorted(each.wall for each in timings)
    middle = statistics.median(walls)
    processor = statistics.median(each.processor for each in timings)
    figures = (middle, walls[0], walls[-1], processor)
    limit = f"{target_s * 1e3:8.0f}  {_verdict(middle, target_s)}"
    print(f"{name:34}{''.join(f'{each * 1e3:9.1f}' for each in figures)}  {limit}", flush=True)


def held(paths: list[Path]) -> duckdb.DuckDBPyConnection:
    """Open runs with the limits of the benchmark."""
    connection = open_runs(paths)
    connection.execute("SET threads = 2")
    connection.execute("SET memory_limit = '3GB'")
    return connection


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> Callable[[], object]:
    """Return what runs a query and fetches its answer as Arrow."""
    return lambda: connection.sql(query).to_arrow_table()


def time_windows(connection: duckdb.DuckDBPyConnection, repeats: int, target_s: float) -> None:
    """Time the queries of the timeline for windows in the middle of the run."""
    ((length_ms,),) = connection.execute("SELECT duration_ms FROM run_summary").fetchall()
    for width_ms in WINDOWS_MS:
        low, high = length_ms / 2, length_ms / 2 + width_ms
        ranges = rounds_in_window(connection, low, high)
        name = f"{width_ms / 1e3:g} s, {sum(each.last - each.first + 1 for each in ranges)} rounds"
        look_up = measure(lambda low=low, high=high: rounds_in_window(connection, low, high), repeats)  # type: ignore[misc]
        report(f"rounds of a window, {name}", look_up, target_s)
        report("its names", measure(lambda ranges=ranges: open_and_close(connection, ranges), repeats), target_s)  # type: ignore[misc]
        with window(connection, ranges) as part:
            for view in BY_ROUND:
                query = f"SELECT * FROM {view} WHERE {part.condition}"
                report(f"{view}, {width_ms / 1e3:g} s", measure(ask(part.cursor, query), repeats), target_s)


def open_and_close(connection: duckdb.DuckDBPyConnection, ranges: list[RoundRange]) -> None:
    """Find the names of a window and nothing else."""
    with window(connection, ranges):
        pass


def time_summaries(paths: list[Path], views: tuple[str, ...], repeats: int, target_s: float | None) -> None:
    """Time views of whole runs: with an empty cache of summaries, then with a full one."""
    queries = {view: f"SELECT * FROM {view}" for view in views}
    timings: dict[str, list[Timing]] = {view: [] for view in views}
    for _ in range(repeats + 1):
        connection = held(paths)
        for view, query in queries.items():
            wall, processor = time.perf_counter(), time.process_time()
            use_summaries(connection, query)
            connection.sql(query).to_arrow_table()
            timings[view].append(Timing(time.perf_counter() - wall, time.process_time() - processor))
        connection.close()
    for view, (first, *others) in timings.items():
        name = view if len(paths) == 1 else f"{view} (a pair)"
        later = [each.wall for each in others]
        middle = statistics.median(later)
        limit = ""
        if target_s is not None:
            limit = f"{target_s * 1e3:8.0f}  first {_verdict(first.wall, target_s)}, then {_verdict(middle, target_s)}"
        figures = (first.wall, first.processor, middle, min(later), max(later))
        print(f"{name:34}{''.join(f'{each * 1e3:9.1f}' for each in figures)}  {limit}", flush=True)


def _verdict(seconds: float, target_s: float) -> str:
    return "met" if seconds <= target_s else "MISSED"


def benchmark(path: Path, num_rounds: int, repeats: int) -> None:
    """Print the table for one run."""
    big = num_rounds > SMALL
    open_target, view_target, window_target = (1.0, 4.0, 0.15) if big else (0.5, 0.5, 0.1)
    print(f"{'':34}{'median ms':>9}{'least':>9}{'most':>9}{'CPU ms':>9}    target")
    report("opening", measure(lambda: open_runs([path]).close(), repeats), open_target)
    with held([path]) as connection:
        time_windows(connection, repeats, window_target)
    print(f"{'':34}{'first ms':>9}{'CPU ms':>9}{'then ms':>9}{'least':>9}{'most':>9}    target")
    with TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        time_summaries([path], OVERVIEW, repeats, view_target)
        time_summaries([path, path], PAIRED, repeats, view_target)
        print(
            f"greatest resident memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB", flush=True
        )
        time_summaries([path], IN_DEPTH, 1, None)


def main(arguments: list[str]) -> int:
    """Write the run if it is not there, and time the views on it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=SMALL)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args(arguments)
    if not is_run(chosen.folder):
        generate(chosen.folder, chosen.rounds)
    benchmark(chosen.folder, chosen.rounds, chosen.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
