"""Which latency a page shows: kept in the address."""

import streamlit as st

from radixflow.app.sentences.latency import INTERVALS, INTERVALS_OF, SUBJECTS


def choose_latency() -> tuple[str, str]:
    """Ask for a subject and an interval of it, and return both."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        subject = st.segmented_control(
            "Of",
            list(SUBJECTS),
            format_func=lambda each: SUBJECTS[each],
            default="branch",
            required=True,
            key="subject",
            bind="query-params",
        )
        interval = st.selectbox(
            "From what to what",
            INTERVALS_OF[subject],
            format_func=lambda each: INTERVALS[each],
            key="interval",
            bind="query-params",
            width=260,
        )
    return subject, interval
