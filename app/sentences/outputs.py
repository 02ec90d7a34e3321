"""Whether two arms answer alike, in sentences."""

from typing import Any

import pyarrow as pa

from radixflow.app import units

MOST_NAMED = 5
"""Requests that a sentence names; the table below it lists more."""

NEAR_TIES = (
    "A different first token need not be a fault: a batch of another shape adds up in another order, and in bfloat16 "
    "that is enough to turn a near-tie between two tokens. To tell, record in float32, or record one arm twice: what "
    "differs between two runs of the same arm is no effect of the policy."
)
"""What a person must know before taking a difference for a fault."""


def audit_sentence(audit: pa.Table, differing: pa.Table, label_a: str, label_b: str) -> str:
    """Say how many first tokens of a pair could be compared, how many of them agree, and which do not.

    Args:
        audit: Rows of ``queries.pairs.output_audit``, that over all requests first.
        differing: Rows of ``queries.pairs.first_token_disagreements``.
        label_a: Name of the first arm.
        label_b: Name of the second arm.
    """
    rows = audit.to_pylist()
    whether = f"Whether {label_b} answers as {label_a} does is {units.NOT_MEASURED}"
    if not rows:
        return f"{whether}: no request was recorded in both runs."
    row = rows[0]
    shared = units.counted(row["num_shared_requests"], "shared request")
    if not row["num_compared"]:
        return f"{whether}: of {shared} none has a first token recorded in both runs."
    return f"{_compared(row, shared)} {_agreeing(row, differing)}"


def _compared(row: dict[str, Any], shared: str) -> str:
    if row["num_compared"] == row["num_shared_requests"]:
        return f"The first tokens of all {shared} can be compared."
    return (
        f"The first tokens of {units.number(row['num_compared'])} of {shared} can be compared; the others are "
        f"{units.NOT_MEASURED} in one run or both."
    )


def _agreeing(row: dict[str, Any], differing: pa.Table) -> str:
    agreeing = f"{units.number(row['num_agreeing'])} of {units.number(row['num_compared'])} agree"
    if not row["num_disagreeing"]:
        return f"{agreeing}."
    names = [str(name) for name in differing["request_id"].to_pylist()]
    rest = "" if row["num_disagreeing"] <= MOST_NAMED else " and others"
    verb = "differs" if row["num_disagreeing"] == 1 else "differ"
    return (
        f"{agreeing} ({units.fraction(row['agreement_fraction'])}), {units.number(row['num_disagreeing'])} {verb}: "
        f"{', '.join(names[:MOST_NAMED])}{rest}."
    )
