"""A recording that keeps a sample of its rounds, by hand."""

from pathlib import Path

from tests import builders


def sampled_run(root: Path, kept: tuple[int, ...] = (1, 4)) -> Path:
    """Write the prefix-stop arm as a recorded server has it that keeps two of its six rounds."""

    def sample(run: builders.RunBuilder) -> builders.RunBuilder:
        run.client, run.manifest.stream, run.manifest.workload = False, "served-0001", {"name": "served"}
        counts = {"rounds": 6, "rows": 8, "tokens": 256, "empty_steps": 0, "blocked_visits": 3}
        run.manifest.sampling = {"rounds_fraction": 0.25, "counts": counts}
        run.manifest.attached = {"server": "0" * 32, "rotate": 0, "end_reason": "stopped"}
        run.finish()
        for table in ("rounds", "rows", "visits", "awaited_states", "spans"):
            run.rows_of[table] = [row for row in run.rows_of[table] if row["round"] in kept]
        return run

    return builders.prefix_stop_run(root / "tiny" / "served-0001" / "radix", sample)
