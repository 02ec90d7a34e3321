"""Whether a gain holds over streams, in sentences."""

from typing import Any

import pyarrow as pa

from radixflow.app import units


def experiment_sentence(runs: pa.Table, num_found: int) -> str:
    """Say which runs the page speaks of.

    Args:
        runs: Rows of ``runs`` of the whole experiment.
        num_found: How many runs the experiment has, opened or not.
    """
    rows = runs.to_pylist()
    if not rows:
        return "No run of this experiment can be read."
    streams, policies = {row["stream"] for row in rows}, {row["policy"] for row in rows}
    rest = f" (the first of {units.number(num_found)})" if num_found > len(rows) else ""
    return (
        f"All {units.counted(len(rows), 'run')}{rest} of experiment {rows[0]['experiment']}: "
        f"{units.counted(len(policies), 'policy', 'policies')} over {units.counted(len(streams), 'stream')}."
    )


def doubts(runs: pa.Table) -> list[str]:
    """Return warnings that count the runs which are simulated, incomplete or still being recorded.

    Args:
        runs: Rows of ``runs`` of the whole experiment.
    """
    rows = runs.to_pylist()
    counts = {
        "simulated: their durations are not measured on an engine": sum(r["engine_kind"] == "simulated" for r in rows),
        "incomplete: their numbers count what was kept": sum(r["state"] == "incomplete" for r in rows),
        "still being recorded": sum(r["state"] == "recording" for r in rows),
    }
    return [f"{units.number(count)} of {len(rows)} runs are {what}." for what, count in counts.items() if count]


def gain_sentence(summary: pa.Table, policy_a: str, policy_b: str) -> str:
    """Say what one policy gains on another over all streams, and whether the sign holds.

    Args:
        summary: Rows of ``queries.sensitivity.summary``.
        policy_a: The policy that is compared with.
        policy_b: The other one.
    """
    over_all = [row for row in summary.to_pylist() if row["scope"] == "over_everything"]
    return " ".join(
        f"{policy_b} against {policy_a} over {units.counted(row['num_streams'], 'stream')}: "
        f"{_gain(row, 'rounds', 'of the rounds')}; {_gain(row, 'latency', 'of the mean latency')}."
        for row in over_all
    )


def _gain(row: dict[str, Any], name: str, what: str) -> str:
    mean = row[f"mean_{name}_saved_fraction"]
    if mean is None:
        return f"what it saves {what} is {units.NOT_MEASURED}"
    verb = "saves" if mean >= 0 else "adds"
    said = f"it {verb} {units.fraction(abs(mean))} {what}"
    if row["num_streams"] == 1:
        return said
    least, most = (units.fraction(row[f"{end}_{name}_saved_fraction"]) for end in ("least", "most"))
    sign = ", and the sign changes" if row[f"is_{name}_sign_changed"] else ""
    return f"{said} on average ({least} to {most}{sign})"
