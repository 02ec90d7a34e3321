"""Follows the newest recording of the folder of runs, by itself, every few moments."""

from typing import cast

import pyarrow as pa
import streamlit as st

from radixflow.app.components.frame.lead import show_hint, show_lead
from radixflow.app.components.frame.runs_folder import runs_folder
from radixflow.app.components.shown.arm_name import show_arm
from radixflow.app.components.text import plain_markdown
from radixflow.app.figures.style.interaction import plotly_config
from radixflow.app.figures.timeline.bubble_timeline import TimelineData, bubble_timeline
from radixflow.app.queries.live import KEPT_ROUNDS, LiveRun, recording_runs
from radixflow.app.sentences.live import end_sentence, live_sentence
from radixflow.app.sentences.stalls import live_stall_sentence
from radixflow.schema.errors import RadixflowError

EVERY_SECONDS = 1.5
_FOLLOWED = "live_run"


@st.fragment(run_every=EVERY_SECONDS)
def live_view() -> None:
    """Draw the last rounds of the run that is being recorded, and say when a recording starts or ends."""
    root = str(runs_folder().asked_for)
    live = cast(LiveRun | None, st.session_state.get(_FOLLOWED))
    if live is None or live.state != "recording":
        live = _start_following(root, live)
    if live is None:
        show_lead("No recording is running.")
        show_hint(
            f"This page looks for one every {EVERY_SECONDS:g} seconds. "
            "Start one with radixflow-collect and leave the page open."
        )
        return
    _show(live)


def _start_following(root: str, live: LiveRun | None) -> LiveRun | None:
    """Take up the newest recording; without one the last that was followed stays in sight."""
    for path in recording_runs(root):
        try:
            if live and live.is_of(path):
                return live
            live = LiveRun(path, root)
        except RadixflowError as error:
            st.warning(plain_markdown(error), icon=":material/warning:")
            continue
        st.session_state[_FOLLOWED] = live
        st.toast(f"A recording has started: {plain_markdown(live.tail.manifest.policy)}", icon=":material/sensors:")
        return live
    return live


def _show(live: LiveRun) -> None:
    rounds, state = live.look(), live.state
    (run,) = live.runs.to_pylist()
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        show_arm(f"{run['experiment']} / {run['stream']} / {run['label']}", run["policy"])
        if state == "recording":
            st.badge("Recording", icon=":material/fiber_manual_record:", color="red")
    if state != "recording":
        st.info(end_sentence(state), icon=":material/stop_circle:")
        if st.button("Open the workbench on it", icon=":material/refresh:"):
            st.rerun()
    stalled = live_stall_sentence(live.stall) if state == "recording" else None
    if stalled:
        st.warning(plain_markdown(stalled), icon=":material/hourglass_disabled:")
    show_lead(live_sentence(rounds.totals))
    _draw(live.runs, rounds.raster, rounds.tracks)
    show_hint(
        f"The last {KEPT_ROUNDS} rounds, read every {EVERY_SECONDS:g} seconds from the segments that are new since. "
        "Waits are not told apart by cause here; the Timeline does so."
    )


def _draw(runs: pa.Table, raster: pa.Table, tracks: pa.Table) -> None:
    low = tracks["start_ms"][0].as_py() if tracks.num_rows else 0.0
    high = tracks["end_ms"][-1].as_py() if tracks.num_rows else 1.0
    figure = bubble_timeline(
        TimelineData(runs, raster, tracks, "time", low, high, "Level: one mark a class and round; waits by no cause")
    )
    st.plotly_chart(figure, theme="streamlit", key="figure_live", config=plotly_config("live"))
