"""The workbench: ``streamlit run app/main.py [-- --runs DIR]``. This file holds the page list and nothing else."""

import streamlit as st

from radixflow.app.components.frame.brand import ICON, show_brand
from radixflow.app.components.frame.opened_runs import open_workbench
from radixflow.schema.errors import RadixflowError

PAGES = {
    "": [
        st.Page("pages/overview.py", title="Overview", icon=":material/dashboard:", default=True),
        st.Page("pages/timeline.py", title="Timeline", icon=":material/view_timeline:"),
        st.Page("pages/round.py", title="Round", icon=":material/zoom_in:"),
        st.Page("pages/request.py", title="Request", icon=":material/route:"),
        st.Page("pages/round_fullness.py", title="Round fullness", icon=":material/stacked_bar_chart:"),
        st.Page("pages/blocked.py", title="Blocked and recovered", icon=":material/front_hand:"),
        st.Page("pages/cost_shift.py", title="Cost shift", icon=":material/waterfall_chart:"),
        st.Page("pages/latency.py", title="Latency", icon=":material/timer:"),
        st.Page("pages/token_ledger.py", title="Token ledger", icon=":material/receipt_long:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:"),
        st.Page("pages/sensitivity.py", title="Sensitivity and load", icon=":material/stacked_line_chart:"),
    ],
    # Pages that do something with runs, rather than show one: reports, a doctor, imported kernels belong here, too.
    "Tools": [
        st.Page("pages/live.py", title="Live", icon=":material/sensors:"),
        st.Page("pages/sql.py", title="SQL", icon=":material/database:"),
    ],
}

st.set_page_config(page_title="RadixFlow workbench", page_icon=ICON, layout="wide", initial_sidebar_state=310)
show_brand()
page = st.navigation(PAGES, expanded=True)
try:
    if open_workbench():
        page.run()
except RadixflowError as error:
    st.error(str(error), icon=":material/error:")
