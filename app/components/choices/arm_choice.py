"""Which of the opened runs a figure shows, where it can show one run or one pair only."""

from typing import Any, NamedTuple

import pyarrow as pa
import streamlit as st


class Pair(NamedTuple):
    """Two runs over one stream.

    Attributes:
        first: Row of ``runs`` of the run that is compared with.
        second: Row of ``runs`` of the other one.
        difference: Their row of ``paired_summary``: second minus first.
    """

    first: dict[str, Any]
    second: dict[str, Any]
    difference: dict[str, Any]


def choose_arm(runs: pa.Table) -> int:
    """Ask for one of the opened runs and return its index."""
    labels = {run["run"]: run["label"] for run in runs.to_pylist()}
    if len(labels) == 1:
        return int(next(iter(labels)))
    chosen = st.segmented_control(
        "Arm",
        list(labels),
        format_func=lambda run: str(labels[run]),
        default=next(iter(labels)),
        required=True,
        key="arm",
        bind="query-params",
    )
    return int(chosen)


def choose_pair(runs: pa.Table, pairs: pa.Table) -> Pair | None:
    """Ask for one pair of comparable runs; None when there is none.

    Args:
        runs: Rows of ``runs``.
        pairs: Rows of ``paired_summary``.
    """
    by_run = {run["run"]: run for run in runs.to_pylist()}
    found = {
        f"{pair['label_b']} against {pair['label_a']}": Pair(by_run[pair["run_a"]], by_run[pair["run_b"]], pair)
        for pair in pairs.to_pylist()
        if pair["run_a"] < pair["run_b"]
    }
    if not found:
        return None
    if len(found) == 1:
        return next(iter(found.values()))
    return found[st.selectbox("Pair", list(found), key="pair", bind="query-params")]
