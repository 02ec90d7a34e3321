"""The controls for the latency that a page shows, kept in the address."""

import streamlit as st

from radixflow.app.sentences.latency import INTERVALS, INTERVALS_OF, SUBJECTS


def choose_latency() -> tuple[str, str]:
    """Show the controls and return the subject (``branch`` or ``group``) and the interval that were chosen."""
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
