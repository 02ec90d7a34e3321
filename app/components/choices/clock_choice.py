"""The control for the clock on which costs are shown, kept in the address."""

import streamlit as st

from radixflow.app.sentences.cost_shift import CLOCKS


def choose_clock(measured: list[str]) -> str:
    """Ask for one of the clocks that measured something; the last one, nearest to the device, is the default.

    Args:
        measured: Names of the clocks on which both runs have costs.
    """
    if len(measured) == 1:
        return measured[0]
    chosen = st.segmented_control(
        "Clock",
        measured,
        format_func=lambda clock: CLOCKS[clock],
        default=measured[-1],
        required=True,
        key="clock",
        bind="query-params",
    )
    return str(chosen)
