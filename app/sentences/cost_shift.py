"""Where the saving of fewer rounds went, in sentences."""

from typing import Any

import pyarrow as pa

from radixflow.app import units

CLOCKS = {
    "host_round": "Whole round, host clock",
    "host_execute": "Execution, host clock",
    "device": "Execution, device clock",
}
"""Clock of ``round_costs`` to its name."""


def cost_sentences(shifts: pa.Table) -> str:
    """Say on each clock where the saving went.

    Args:
        shifts: Rows of ``queries.costs.shifts``.
    """
    said = " ".join(cost_sentence(row) for row in shifts.to_pylist())
    return said or f"What the rounds cost is {units.NOT_MEASURED} by a clock that both runs share."


def cost_sentence(shift: dict[str, Any]) -> str:
    """Say what fewer rounds were worth, what the remaining ones cost more, and what is left, on one clock.

    Args:
        shift: A row of ``queries.costs.shifts``.
    """
    return f"{CLOCKS[shift['clock']]}: {_rounds(shift)}, {_dearer(shift)}; {_net(shift)}."


def _rounds(shift: dict[str, Any]) -> str:
    eliminated, credit = shift["num_rounds_eliminated"], units.duration(abs(shift["gross_credit_ms"]))
    if eliminated == 0:
        return f"{shift['label_b']} runs as many rounds as {shift['label_a']}"
    if eliminated > 0:
        return (
            f"{shift['label_b']} runs {units.number(eliminated)} fewer rounds than {shift['label_a']}, worth {credit}"
        )
    return f"{shift['label_b']} runs {units.number(-eliminated)} more rounds than {shift['label_a']}, at {credit}"


def _dearer(shift: dict[str, Any]) -> str:
    mean_a, mean_b = units.duration(shift["mean_ms_a"]), units.duration(shift["mean_ms_b"])
    retained = shift["retained_cost_ms"]
    change = "costs" if retained > 0 else "saves"
    return f"and a round takes {mean_b} instead of {mean_a}, which {change} {units.duration(abs(retained))}"


def _net(shift: dict[str, Any]) -> str:
    net = shift["net_saving_ms"]
    total = units.duration(shift["total_ms_a"])
    word = "saved" if net >= 0 else "lost"
    return f"net {units.duration(abs(net))} of {total} {word}"


def shape_sentence(shift: dict[str, Any]) -> str:
    """Say what of the dearer or cheaper rounds the shape of the batches explains.

    Args:
        shift: A row of ``queries.costs.shifts``.
    """
    name = CLOCKS[shift["clock"]]
    if shift["shape_cost_ms"] is None:
        return (
            f"{name}: what fuller batches cost is {units.NOT_MEASURED}; more than 6 rounds with their rows are needed."
        )
    shape, rest = (units.signed(units.duration(shift[each])) for each in ("shape_cost_ms", "unexplained_cost_ms"))
    return (
        f"{name}: the shape of the batches makes {shape} of it, and {rest} remain for the same batch, by a regression "
        f"over the rounds of both arms that explains {units.fraction(shift['fit_fraction'])} of their variance."
    )


def numbers(shifts: pa.Table) -> dict[str, dict[str, Any]]:
    """Give the numbers of each clock under its name, without what names the pair.

    Args:
        shifts: Rows of ``queries.costs.shifts``.
    """
    names = {"run_a", "run_b", "label_a", "label_b", "clock"}
    return {
        CLOCKS[row["clock"]]: {column: value for column, value in row.items() if column not in names}
        for row in shifts.to_pylist()
    }


def missing_clocks_sentence(shifts: pa.Table) -> str:
    """Say which clocks did not measure both runs; empty if all did.

    Args:
        shifts: Rows of ``queries.costs.shifts``.
    """
    measured = set(shifts["clock"].to_pylist())
    missing = [name.lower() for clock, name in CLOCKS.items() if clock not in measured]
    return f"{units.NOT_MEASURED.capitalize()} in both runs: {'; '.join(missing)}." if missing else ""


def host_sentence(times: pa.Table) -> str:
    """Say how long native scheduling takes in each arm, and how long the engine had no round between two of them.

    Args:
        times: Rows of ``queries.costs.host_times``.
    """
    said = " ".join(_host(row) for row in times.to_pylist())
    return said or f"What a round costs the host is {units.NOT_MEASURED}: no round was recorded."


def _host(row: dict[str, Any]) -> str:
    execution = (
        f"execution is {units.NOT_MEASURED}, since no worker wrote spans"
        if row["mean_execute_ms"] is None
        else f"execution {units.duration(row['mean_execute_ms'])}"
    )
    start = f"{row['label']}: native scheduling takes {units.duration(row['mean_schedule_ms'])} a round, {execution}"
    if not row["num_gaps"]:
        return f"{start}; the time between rounds is {units.NOT_MEASURED}: no two rounds in a row are there."
    gaps = f"{units.duration(row['mean_gap_ms'])} pass on average between two rounds, waiting for work included"
    share = "" if row["gap_fraction"] is None else f": {units.fraction(row['gap_fraction'])} of the run"
    return f"{start}; {gaps}{share}."
