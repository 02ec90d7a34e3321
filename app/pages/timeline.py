"""Timeline: every row slot of every round, used or lost, and to what."""

from functools import partial

import streamlit as st

from radixflow.app.components.frame.lead import show_hint, show_lead
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.timeline.timeline_selection import timeline_selection
from radixflow.app.components.timeline.timeline_view import timeline_view
from radixflow.app.components.timeline.timeline_window import (
    VIEW,
    follow_jump,
    follow_pick,
    follow_view,
    timeline_window,
)
from radixflow.app.figures.timeline.bubble_timeline import TimelineData, timeline_parts
from radixflow.app.queries import dependencies, run_facts, slot_raster, spans, stalls
from radixflow.app.queries.cached import read, read_part
from radixflow.app.sentences.bubbles import bubble_sentence, level_words

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Execution-bubble timeline", runs)


@st.fragment
def show_timeline() -> None:
    """Draw what a step of a zoom changes, and nothing else of the page."""
    window = timeline_window(selection)
    selected = timeline_selection(runs, selection)
    totals = read(slot_raster.window_totals, selection, window)
    show_lead(bubble_sentence(totals))

    drawn = slot_raster.drawn_window(window, slot_raster.whole_window(read(slot_raster.extent, selection), window.axis))
    level = slot_raster.choose_level(read(slot_raster.window_totals, selection, drawn))
    parts = timeline_parts(
        TimelineData(
            runs=runs,
            raster=read_part(slot_raster.raster, slot_raster.are_cells, selection, drawn, level),
            tracks=read(slot_raster.round_tracks, selection, drawn, level.rounds_per_mark),
            axis=window.axis,
            low=window.low,
            high=window.high,
            level=level_words(*level),
            stalls=read(stalls.in_window, selection, drawn),
            spans=read_part(spans.spans_at, spans.are_single, selection, drawn, level.rounds_per_mark),
            arrows=read(dependencies.arrows, selection, selected),
            selected_run=selected.run,
            selected_round=selected.round,
            selected_request=selected.request,
        )
    )
    timeline_view(parts, VIEW, follow_view, partial(follow_jump, window, selection), follow_pick)
    show_hint(
        "Each cell is one row slot of one round, as wide as the round lasted: coloured area is engine time used or "
        "lost. Wheel zooms, drag moves, click opens the round, Shift and click joins its producers and consumers by "
        "arrows, double click shows the whole run. Keys: w s zoom, a d move, f whole run, [ ] bubbles, / finds a "
        "request, Enter opens the selected round."
    )


show_timeline()
