"""Where every prompt token came from, in sentences."""

from typing import Any

import pyarrow as pa

from radixflow.app import units


def ledger_sentence(ledger: pa.Table) -> str:
    """Say what each arm reused, computed and computed again, and whether its ledger closes.

    Args:
        ledger: Rows of ``token_ledger``.
    """
    said = " ".join(_arm(row) for row in ledger.to_pylist())
    return said or f"Where the tokens came from is {units.NOT_MEASURED}: no request of these runs finished."


def _arm(row: dict[str, Any]) -> str:
    tokens = units.counted(row["num_prompt_tokens"], "prompt token")
    reused = units.NOT_MEASURED if row["num_reused_tokens"] is None else units.number(row["num_reused_tokens"])
    return (
        f"{row['label']}: of {tokens} {reused} come from the cache, {units.number(row['num_scheduled_prompt_tokens'])} "
        f"are scheduled, {units.number(row['num_repeated_tokens'])} of these again after a preemption. {_closes(row)}"
    )


def _closes(row: dict[str, Any]) -> str:
    unexplained = row["num_unexplained_tokens"]
    if unexplained is None:
        return "Whether the ledger closes cannot be said."
    if unexplained:
        return f"The ledger does not close: {units.counted(unexplained, 'token')} unexplained."
    return "The ledger closes."


def repeated_sentence(ledger: pa.Table) -> str:
    """Say how much of the scheduled work had been done before.

    Args:
        ledger: Rows of ``token_ledger``.
    """
    return " ".join(
        f"{row['label']} schedules {units.counted(row['num_scheduled_tokens'], 'token')}; "
        f"{units.fraction(row['overlap_fraction'])} of them repeat known work, at least."
        for row in ledger.to_pylist()
    )


def restored_sentence(restored: pa.Table) -> str:
    """Say how many states rows restored, and how many of them were still being computed by then.

    Args:
        restored: Rows of ``queries.tokens.restored``.
    """
    said = " ".join(_restored(row) for row in restored.to_pylist())
    return said or f"Which states were restored is {units.NOT_MEASURED}: no engine of these runs was observed."


def _restored(row: dict[str, Any]) -> str:
    if row["num_restored_states"] is None:
        return (
            f"Which states {row['label']} restored, and from whom, is {units.NOT_MEASURED}: it keeps a sample of its "
            "rounds, and the row that published a state may not be among them."
        )
    if not row["num_restored_states"]:
        return f"{row['label']} restored no state that a row of the recording had published."
    states = units.counted(row["num_restored_states"], "state")
    middle = units.counted(row["p50_rounds_between"], "round")
    flight = units.number(row["num_in_flight"]) if row["num_in_flight"] else "none"
    return (
        f"{row['label']} restored {states}, half of them at most {middle} after they were published; the output of "
        f"{flight} was still on its way when the restoring round was scheduled."
    )
