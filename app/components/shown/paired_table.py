"""The numbers of two arms side by side, with what the second one changes."""

import pyarrow as pa
import streamlit as st

from radixflow.app.components.choices.arm_choice import Pair
from radixflow.app.queries.definitions import Definitions
from radixflow.app.sentences.numbers import NUMBERS, written_difference, written_values


def paired_table(summary: pa.Table, pair: Pair, definitions: Definitions) -> None:
    """Show the numbers of a pair in a table.

    Args:
        summary: Rows of ``run_summary``.
        pair: The pair.
        definitions: What each number means.
    """
    by_run = {row["run"]: row for row in summary.to_pylist()}
    both = [by_run[pair.first["run"]], by_run[pair.second["run"]]]
    labels = [str(run["label"]) for run in both]
    rows = [
        {"": number.title}
        | dict(zip(labels, written_values(number, both), strict=True))
        | {"difference": written_difference(number, pair.difference)}
        | {"what it is": definitions.of("run_summary", number.column) or ""}
        for number in NUMBERS
    ]
    # Wide enough for the longest name, and for a difference with its interval.
    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        height="content",
        column_config={"": {"width": 195}, "difference": {"width": 190}, "what it is": {"width": "medium"}},
    )
