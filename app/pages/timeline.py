"""Timeline: every row slot of every round, used or lost, and to what."""

from functools import partial

from radixflow.app.components.lead import show_hint, show_lead
from radixflow.app.components.opened_runs import opened_runs
from radixflow.app.components.page_frame import start_page
from radixflow.app.components.timeline_view import timeline_view
from radixflow.app.components.timeline_window import VIEW, follow_jump, follow_view, timeline_window
from radixflow.app.figures.bubble_timeline import TimelineData, bubble_timeline
from radixflow.app.queries import run_facts, slot_raster
from radixflow.app.queries.cached import read
from radixflow.app.sentences.bubbles import bubble_sentence, level_words

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Execution-bubble timeline", runs)
bubbles = read(slot_raster.bubble_rounds, selection)
window = timeline_window(read(slot_raster.extent, selection), bubbles)
totals = read(slot_raster.window_totals, selection, window)
show_lead(bubble_sentence(totals))

drawn = slot_raster.drawn_window(window)
level = slot_raster.choose_level(read(slot_raster.window_totals, selection, drawn))
figure = bubble_timeline(
    TimelineData(
        runs=runs,
        raster=read(slot_raster.raster, selection, drawn, level),
        tracks=read(slot_raster.round_tracks, selection, drawn, level.rounds_per_mark),
        axis=window.axis,
        low=window.low,
        high=window.high,
        level=level_words(level.kind, level.rounds_per_mark),
    )
)
timeline_view(figure, VIEW, follow_view, partial(follow_jump, window, bubbles))
show_hint(
    "Each cell is one row slot of one round, as wide as the round lasted: coloured area is engine time used or lost. "
    "Wheel zooms, drag moves, double click shows the whole run. Keys: w s zoom, a d move, f whole run, [ ] bubbles."
)
