"""Which round a page shows: kept in the address, moved by a number and by buttons."""

from typing import Any

import pyarrow as pa
import streamlit as st

from radixflow.app.components.addresses.links import arrive
from radixflow.app.components.choices.arm_choice import choose_arm
from radixflow.app.queries import round_lens
from radixflow.app.queries.cached import Selection, read

KEY = "round"
_BUTTONS = (
    ("Previous bubble", ":material/keyboard_double_arrow_left:", "previous_bubble", "Shift+Left"),
    ("Previous round", ":material/chevron_left:", "previous_round", "Left"),
    ("Next round", ":material/chevron_right:", "next_round", "Right"),
    ("Next bubble", ":material/keyboard_double_arrow_right:", "next_bubble", "Shift+Right"),
)


def choose_round(runs: pa.Table, selection: Selection) -> tuple[dict[str, Any], int, dict[str, Any] | None]:
    """Ask for an arm and a round of it; without one in the address the round with the most avoidable rows is shown.

    Args:
        runs: Rows of ``runs``.
        selection: The opened runs.

    Returns:
        The run (its row of ``runs``), the round, and its row of ``queries.round_lens.ranges``: None without rounds.
    """
    arrive(runs)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        run = choose_arm(runs)
        ranges = {row["run"]: row for row in read(round_lens.ranges, selection).to_pylist()}.get(run)
        worst = ranges["worst_round"] if ranges else 1
        if KEY not in st.session_state and KEY not in st.query_params:
            st.session_state[KEY] = worst
            st.query_params[KEY] = str(worst)
        asked = st.number_input("Round", value=0, step=1, key=KEY, bind="query-params", width=130)
        number = worst if asked is None else int(asked)
        (near,) = read(round_lens.neighbours, selection, run, number).to_pylist()
        for label, icon, target, key in _BUTTONS:
            at = near[target]
            st.button(label, icon=icon, on_click=_go, args=(at,), disabled=at is None, shortcut=key)
    return next(each for each in runs.to_pylist() if each["run"] == run), number, ranges


def _go(number: int) -> None:
    st.session_state[KEY] = number
