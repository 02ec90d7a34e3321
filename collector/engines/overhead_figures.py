"""Figures of a measurement of overhead: medians with their spread, and what recording adds by the rows of a round."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from radixflow.collector.engines.in_process_engine import RoundCost
from radixflow.collector.engines.overhead_arms import ArmCosts

AIM_ROUND_US = 20.0
AIM_ROW_US = 2.0
"""Goal: most CPU time that recording adds to a round, and for each row of it, in microseconds."""
AIM_FRACTION = 0.01
"""Goal: most that recording adds to a round of the tiny engine, as a fraction of the round's time."""
AIM_ROW_BYTES = 15.0
"""Goal: most bytes of a stored row."""


@dataclass(frozen=True)
class Spread:
    """A median over rounds and repetitions with its quartiles, in us."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values_ns: Sequence[int]) -> Spread:
        """The spread of values in ns."""
        low, median, high = statistics.quantiles(values_ns, n=4, method="inclusive")
        return cls(median / 1e3, low / 1e3, high / 1e3)


@dataclass(frozen=True)
class Added:
    """What an arm adds to a round against another arm: ``round_us + row_us * rows``, by least squares over rounds.

    Attributes:
        round_us: Intercept.
        row_us: Slope.
        median_us: Median over the rounds.
        beyond_rows_us: Median over the rounds of what is left without ``AIM_ROW_US`` for each row; the aim is
            ``AIM_ROUND_US``. A few rounds with a long queue to probe bend the fit, not this.
        fraction: Median over the wall time of a round of the other arm.
    """

    round_us: float
    row_us: float
    median_us: float
    beyond_rows_us: float
    fraction: float


@dataclass(frozen=True)
class ArmFigures:
    """The figures of one arm.

    Attributes:
        name: Its name.
        schedule_us: CPU time of schedule().
        scheduler_us: CPU time of all that the scheduler does for a round: add_request(), schedule(), the update.
        whole_round_us: CPU time of a whole round, with worker and forward pass.
        writer_us: CPU time of the writing threads a round.
        added: To the scheduler's part against the first arm (vLLM's own class); None for that one.
        recording: The same against the second arm (ours, recording off); None up to that one.
        round_bytes: Bytes of stored columns a round; None where nothing is stored.
        row_bytes: The same a stored row.
        fixed_bytes: Bytes that the files of a run take beside their columns.
    """

    name: str
    schedule_us: Spread
    scheduler_us: Spread
    whole_round_us: Spread
    writer_us: float
    added: Added | None = None
    recording: Added | None = None
    round_bytes: float | None = None
    row_bytes: float | None = None
    fixed_bytes: int | None = None


def figures(costs: Sequence[ArmCosts]) -> list[ArmFigures]:
    """The figures of a measurement; its first arm is vLLM's own class, its second ours without recording."""
    return [_figures(each, costs[0], costs[1] if number > 1 else None) for number, each in enumerate(costs)]


def _figures(costs: ArmCosts, stock: ArmCosts, off: ArmCosts | None) -> ArmFigures:
    num_rounds = len(costs.rounds[0])

    def spread(part: Callable[[RoundCost], int]) -> Spread:
        return Spread.of([part(cost) for rounds in costs.rounds for cost in rounds])

    stored = costs.stored[0] if costs.stored else None  # equal in every repetition, but for the digits of times
    return ArmFigures(
        costs.arm.name,
        spread(lambda cost: cost.schedule_ns),
        spread(lambda cost: cost.scheduler_ns),
        spread(lambda cost: cost.total_ns),
        statistics.median(costs.writer_ns) / num_rounds / 1e3,
        None if costs is stock else added(costs, stock),
        None if off is None else added(costs, off),
        None if stored is None else stored.column_bytes / num_rounds,
        None if stored is None else stored.column_bytes / stored.num_rows,
        None if stored is None else stored.file_bytes - stored.column_bytes,
    )


def added(costs: ArmCosts, base: ArmCosts) -> Added:
    """What one arm adds to another, round by round: both have decided the same rounds."""
    with_ns, without_ns = medians_by_round(costs), medians_by_round(base)
    added_us = [(after - before) / 1e3 for after, before in zip(with_ns, without_ns, strict=True)]
    rows = [cost.num_rows for cost in base.rounds[0]]
    line = statistics.linear_regression(rows, added_us) if len(set(rows)) > 1 else None
    walls = [statistics.median(costs) for costs in zip(*[[c.wall_ns for c in r] for r in base.rounds], strict=True)]
    return Added(
        line.intercept if line else statistics.mean(added_us),
        line.slope if line else 0.0,
        statistics.median(added_us),
        statistics.median(each - AIM_ROW_US * count for each, count in zip(added_us, rows, strict=True)),
        statistics.median(added_us) * 1e3 / statistics.median(walls),
    )


def medians_by_round(costs: ArmCosts) -> list[float]:
    """CPU time of the scheduler in each round, in the median over the repetitions (ns)."""
    return [
        statistics.median(times)
        for times in zip(*[[cost.scheduler_ns for cost in rounds] for rounds in costs.rounds], strict=True)
    ]


def as_json(arms: Sequence[ArmFigures]) -> list[dict[str, Any]]:
    """The figures as JSON values."""
    return [asdict(arm) for arm in arms]
