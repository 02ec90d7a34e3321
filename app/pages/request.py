"""Request: one branch from its offer to its end, every round that looked at it, its rows, and whom it waited for."""

from functools import partial

from radixflow.app.components.addresses.links import open_round
from radixflow.app.components.choices.request_choice import choose_request, suggest_requests
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.components.shown.numbers_table import numbers_table
from radixflow.app.figures.lens.request_life import LifeData, request_life
from radixflow.app.queries import request_lens, run_facts
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences import request_lens as say

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Request", runs)
run, name = choose_request(runs, selection)
found = read(request_lens.life, selection, run["run"], name or "")
meanings = definitions().views
if found.num_rows == 0:
    near = read(request_lens.like, selection, run["run"], name or "")["request_id"].to_pylist()
    show_lead(say.no_request_sentence(run["label"], name, near))
    suggest_requests(near)
else:
    (life,) = found.to_pylist()
    request, at = life["request"], run["run"]
    bounds = read(request_lens.rounds_of_life, selection, at, life["registered_ms"], life["finished_ms"])
    rounds = request_lens.lifetime(at, bounds)
    visits = read(request_lens.visits, selection, rounds, request)
    rows = read(request_lens.rows, selection, rounds, request)
    producer_rows = read(request_lens.rows_of_producers, selection, rounds, request)
    reasons = read(request_lens.reasons, selection, rounds, request)
    overtakers = read(request_lens.overtakers, selection, at, request)
    waits = read(request_lens.waits, selection, at, request)
    show_lead(say.request_sentence(life, reasons))
    show_text(say.fairness_sentence(waits, overtakers, request_lens.MOST_OVERTAKERS))
    figure = request_life(LifeData(found, visits, rows, producer_rows))
    show_figure(figure, "request_life", partial(open_round, run["label"]))
    show_hint("Each bar of a lane is one round, as wide as it lasted. Click a round to open it.")

    show_section("Why it waited", meanings["request_visits"])
    show_table(say.explained(reasons), "No round looked at it without taking it.", "request_visits")
    show_section("Whom it waited for")
    producers = read(request_lens.producers, selection, rounds, request)
    show_table(producers, "It waited for the state of no other request.", "request_visits", absent="none")

    show_section("Later arrivals that came first", meanings["request_overtakers"])
    show_table(overtakers, "No later arrival came first.", "request_overtakers", absent="none")

    show_section("Its rows", meanings["request_rows"])
    show_table(rows, "No round ran it.", "request_rows", absent="none")
    show_section("Every look that did not take it", meanings["request_visits"])
    show_table(say.explained(visits), "No round looked at it without taking it.", "request_visits")
    show_section("Its events", meanings["request_events"])
    events = read(request_lens.events, selection, at, request)
    show_table(events, "No event is recorded.", "request_events", absent="none")
    show_section("Every number of its life")
    numbers_table(life, "request_lives", definitions())
