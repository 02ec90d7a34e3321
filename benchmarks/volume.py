"""What a run of thousands of repeated refusals weighs: visits seen, rows stored and bytes on disk.

2,000 consumers of one document of 6,000 tokens, blocks of 528 tokens, 16 rows a round, served to the end on the real
scheduler without a model. Under the native marks of vLLM 0.32 nearly every consumer is refused in nearly every round,
and each round another request marks the state.

Run: python -m benchmarks.volume
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from radixflow.collector.instrumentation.schedulers import RecordedScheduler
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.scheduler_harness import build_scheduler, drain, make_request

NUM_CONSUMERS, DOCUMENT_TOKENS, BLOCK_SIZE = 2_000, 6_000, 528
POLICIES = ("radix", "radixflow-immediate")
TABLES = ("rounds", "rows", "visits", "awaited_states", "events")


def serve(run: Path, policy: str) -> int:
    """Serve the stream and record it; returns the number of rounds."""
    create_run(run, Manifest("benchmark", "one-document", policy))
    scheduler: Any = build_scheduler(
        RecordedScheduler, block_size=BLOCK_SIZE, max_num_seqs=16, max_num_batched_tokens=4096, num_blocks=2000,
        additional_config={"radixflow": {"policy": policy, "run_directory": str(run), "probe": "full"}},
    )  # fmt: skip
    rng = random.Random(0)
    document = [rng.randrange(5, 500) for _ in range(DOCUMENT_TOKENS)]
    for number in range(NUM_CONSUMERS):
        question = [rng.randrange(5, 500) for _ in range(12)]
        scheduler.add_request(make_request(scheduler, str(number), document + question, max_tokens=1))
    num_rounds = drain(scheduler)
    scheduler.shutdown()
    return num_rounds


def main() -> None:
    """Print the table."""
    print(f"{'policy':22s}{'rounds':>8s}{'visits':>12s}" + "".join(f"{table + ' rows / kB':>26s}" for table in TABLES))
    with tempfile.TemporaryDirectory() as folder:
        for policy in POLICIES:
            run = Path(folder) / policy
            num_rounds = serve(run, policy)
            with open_runs([run]) as connection:
                ((num_visits,),) = connection.execute("SELECT count(*) FROM round_visits").fetchall()
                counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in TABLES]
            sizes = [sum(file.stat().st_size for file in (run / table).glob("*.parquet")) for table in TABLES]
            cells = (f"{count:>16,d} / {size / 1e3:7,.0f}" for count, size in zip(counts, sizes, strict=True))
            print(f"{policy:22s}{num_rounds:8,d}{num_visits:12,d}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
