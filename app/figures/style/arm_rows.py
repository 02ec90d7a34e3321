"""Splits a table by arm, and gives each arm the label, colour, dash and symbol that it has in every figure."""

from typing import Any, NamedTuple

import pyarrow as pa

from radixflow.app.figures.style import layout
from radixflow.app.figures.style.palette import ArmStyle, arm_style


class ArmRows(NamedTuple):
    """What a figure draws of one arm.

    Attributes:
        name: Label of the arm as it is, for links.
        label: The same, safe to show in a figure.
        look: Its colour, dash and symbol.
        rows: Its rows, at least one.
    """

    name: str
    label: str
    look: ArmStyle
    rows: list[dict[str, Any]]


def rows_by_arm(table: pa.Table, runs: pa.Table) -> list[ArmRows]:
    """Return the arms that have rows, in the order of ``runs``.

    Args:
        table: Rows with a column ``run``.
        runs: Rows of ``runs``.
    """
    of_run: dict[int, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        of_run.setdefault(row["run"], []).append(row)
    return [
        ArmRows(arm["label"], layout.plain(arm["label"]), arm_style(arm["policy"]), of_run[arm["run"]])
        for arm in runs.to_pylist()
        if arm["run"] in of_run
    ]
