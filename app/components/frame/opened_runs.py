"""The run picker in the sidebar: one stream, and the arms of it to look at. Both are kept in the address."""

from pathlib import Path

import streamlit as st

from radixflow.app.components.addresses.address import drop_unusable_numbers
from radixflow.app.components.choices.stream_filters import filter_streams
from radixflow.app.components.frame.empty_state import show_empty_state
from radixflow.app.components.frame.runs_folder import runs_folder
from radixflow.app.components.text import plain_markdown
from radixflow.app.components.timeline.timeline_window import forget_window
from radixflow.app.queries.cached import Selection, catalog, select
from radixflow.app.queries.run_catalog import Catalog, RunChoice, default_arms, experiment_of

MAX_ARMS = 4
MAX_RUNS = 64
"""Most runs of one experiment that are opened together."""
_STATE = "opened_runs"
_CATALOG = "found_runs"


def open_workbench() -> bool:
    """Find the runs, let a person choose among them, and say whether there is anything to show."""
    drop_unusable_numbers()
    folders = runs_folder()
    found = catalog(str(folders.asked_for))
    if not found.choices:
        own_faults = found.faults
        found = catalog(str(folders.samples))
        if not found.choices:
            show_empty_state(folders.asked_for, own_faults + found.faults)
            return False
        _say_samples(folders.asked_for, own_faults)
    st.session_state[_STATE] = _pick(found)
    st.session_state[_CATALOG] = found
    return True


def opened_runs() -> Selection:
    """Return the runs chosen in the sidebar."""
    if _STATE not in st.session_state:
        _start_from_main()
    selection = st.session_state[_STATE]
    assert isinstance(selection, Selection)
    return selection


def experiment_runs() -> tuple[Selection, int]:
    """Return every run of the experiment that the chosen runs belong to, over all its streams, and how many there are.

    Of more than ``MAX_RUNS`` the first ones are opened.
    """
    found: Catalog = st.session_state[_CATALOG]
    paths = [choice.path for choice in experiment_of(found.choices, opened_runs().paths[0])]
    return select(tuple(paths[:MAX_RUNS])), len(paths)


def _start_from_main() -> None:
    """Run ``main.py`` where Streamlit ran a page alone.

    It does so for the first visit of a server if that visit is a link to a page: because of the folder's name it takes
    ``pages/`` for its older kind of app, until it has seen one call of ``st.navigation``.
    """
    pages = sorted((Path(__file__).parents[2] / "pages").glob("*.py"))
    # Navigation makes its first page the default one, which has no address of its own; a link may be to any of ours.
    start = st.Page(lambda: None, title="Start", url_path="start", default=True)
    st.navigation([start, *(st.Page(page) for page in pages)], position="hidden")
    st.rerun()


def _say_samples(asked_for: Path, faults: list[str]) -> None:
    with st.sidebar:
        st.info(f"No run in `{asked_for}`. These are the sample recordings.", icon=":material/inventory_2:")
    for fault in faults:
        st.sidebar.warning(plain_markdown(fault), icon=":material/warning:")


def _pick(found: Catalog) -> Selection:
    with st.sidebar:
        choices = filter_streams(found.choices)
        streams = list(dict.fromkeys(choice.stream for choice in choices))
        stream = st.selectbox("Stream", streams, key="stream", bind="query-params", on_change=_forget_arms)
        arms = _names([choice for choice in found.choices if choice.stream == stream])
        chosen = st.multiselect(
            "Arms",
            list(arms),
            default=default_arms(list(arms)),
            key="arms",
            bind="query-params",
            max_selections=MAX_ARMS,
            help="Runs of one stream under different policies. The first one is what the others are compared with.",
        )
        for fault in found.faults:
            st.warning(plain_markdown(fault), icon=":material/warning:")
    kept = [name for name in arms if name in chosen] or default_arms(list(arms))
    return select(tuple(arms[name].path for name in kept))


def _names(choices: list[RunChoice]) -> dict[str, RunChoice]:
    """Name each arm by its policy, and by its folder where one policy was run twice."""
    policies = [choice.policy for choice in choices]
    return {
        choice.policy if policies.count(choice.policy) == 1 else f"{choice.policy} ({Path(choice.path).name})": choice
        for choice in choices
    }


def _forget_arms() -> None:
    st.session_state.pop("arms", None)
    forget_window()
