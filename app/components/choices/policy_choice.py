"""Which two policies a page compares over all streams: kept in the address."""

import pyarrow as pa
import streamlit as st

from radixflow.app.arms import is_state_ready


def choose_policies(pairs: pa.Table) -> tuple[str, str] | None:
    """Ask for two policies and return them, the one that is compared with first; None when there are no two.

    Args:
        pairs: Rows of ``queries.sensitivity.pairs_of_policies``.
    """
    both = [(str(row["policy_a"]), str(row["policy_b"])) for row in pairs.to_pylist()]
    # From what is to what could be first, as everywhere; the other direction can be chosen.
    ordered = sorted(dict.fromkeys(both), key=lambda pair: (is_state_ready(pair[0]), not is_state_ready(pair[1])))
    if not ordered:
        return None
    named = {f"{policy_b} against {policy_a}": (policy_a, policy_b) for policy_a, policy_b in ordered}
    return named[st.selectbox("Policies", list(named), key="policies", bind="query-params", width=420)]


def show_doubts(sentences: list[str]) -> None:
    """Show warnings about runs that are incomplete, simulated or still recorded, counted rather than named."""
    if sentences:
        st.warning("  \n".join(sentences), icon=":material/warning:")
