"""Which streams can be chosen: by dataset, regime and order, where the runs differ in them. Kept in the address."""

import streamlit as st

from radixflow.app.queries.run_catalog import RunChoice

_FILTERS = {"dataset": "Dataset", "regime": "Regime", "order": "Order"}
_ANY = "any"


def filter_streams(choices: list[RunChoice]) -> list[RunChoice]:
    """Ask for dataset, regime and order, and return the runs that have them; all of them where none has."""
    kept = choices
    for name, title in _FILTERS.items():
        values = sorted({getattr(choice, name) for choice in choices} - {""})
        if len(values) > 1:
            chosen = st.selectbox(title, [_ANY, *values], key=name, bind="query-params")
            kept = [choice for choice in kept if chosen in (_ANY, getattr(choice, name))]
    if not kept:
        st.warning("No stream has all of these; every stream is listed.", icon=":material/filter_alt_off:")
    return kept or choices
