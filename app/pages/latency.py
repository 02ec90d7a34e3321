"""Latency: its whole distribution, its percentiles, and how much of it was waiting."""

from radixflow.app.components.addresses.links import open_request_of
from radixflow.app.components.choices.latency_choice import choose_latency
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.components.shown.side_by_side import side_by_side
from radixflow.app.figures.fullness.waiting_against_executing import waiting_against_executing
from radixflow.app.figures.latency.latency_ecdf import latency_ecdf
from radixflow.app.figures.latency.latency_percentiles import latency_percentiles
from radixflow.app.figures.latency.latency_split import latency_split
from radixflow.app.queries import latency, run_facts
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences import latency as say

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Latency", runs)
subject, interval = choose_latency()
summary = read(latency.summary, selection, subject, interval)
show_lead(say.latency_sentence(summary, subject, interval))
title, meanings = say.INTERVALS[interval], definitions().views

left, right = side_by_side(2)
with left:
    show_section("The whole distribution", meanings["latency_ecdf"])
    show_figure(latency_ecdf(read(latency.ecdf, selection, subject, interval), runs, title), "latency_ecdf")
with right:
    show_section("Percentiles", meanings["latency_summary"])
    show_figure(latency_percentiles(summary, runs, title), "latency_percentiles")

show_lead(say.split_sentence(read(latency.split, selection)))
show_section("Waiting against executing, on average", meanings["latency_split"])
show_figure(latency_split(read(latency.split, selection)), "latency_split")
show_section("Waiting against executing, branch by branch", meanings["latency_parts"])
parts = read(latency.parts, selection)
show_figure(waiting_against_executing(parts, runs), "waiting_against_executing", open_request_of)
show_hint("A diamond: refused at least once for its recurrent state. Click a point for its request.")
show_hint(say.shown_sentence(parts, latency.MAX_POINTS))
show_section("The same in numbers", meanings["latency_summary"])
show_table(read(latency.every_summary, selection), "No latency was measured.", "latency_summary")
