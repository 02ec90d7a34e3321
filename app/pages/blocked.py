"""Blocked and recovered: who waited for a recurrent state, behind whom, for how long."""

from functools import partial

from radixflow.app.components.addresses.links import open_request
from radixflow.app.components.choices.arm_choice import choose_arm
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.components.shown.side_by_side import side_by_side
from radixflow.app.figures.blocked.consumer_waits import consumer_waits
from radixflow.app.figures.blocked.dependency_graph import dependency_graph
from radixflow.app.figures.blocked.producers import producers
from radixflow.app.figures.blocked.visits_by_cause import visits_by_cause
from radixflow.app.figures.blocked.waiting_times import waiting_times
from radixflow.app.queries import blocked, latency, run_facts
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences.blocked import blocked_sentence, causes_sentence

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Blocked and recovered", runs)
show_lead(blocked_sentence(read(run_facts.run_summary, selection)))

left, right = side_by_side(2)
with left:
    show_section("BLOCKED visits by cause")
    show_figure(visits_by_cause(read(blocked.visits_by_cause, selection), runs), "visits_by_cause")
with right:
    show_section("Waiting, from registration to first selection")
    show_figure(waiting_times(read(latency.ecdf, selection, "branch", "registered_to_selected"), runs), "waiting_times")

meanings = definitions().views
causes = read(blocked.causes, selection)
show_section("What each cause cost", meanings["blocking_causes"])
show_text(causes_sentence(causes, runs))
show_table(causes.drop_columns(["run"]), "No request of these runs was ever refused for its state.", "blocking_causes")
show_section("Whether the next round takes a refused request", meanings["blocking_recovery"])
show_table(read(blocked.recovery, selection), "No request of these runs was ever refused.", "blocking_recovery")

run = choose_arm(runs)
show_section("The longest waits of blocked requests")
waits = read(blocked.consumers, selection)
show_figure(consumer_waits(waits, read(blocked.visits_of_consumers, selection), run), "consumer_waits")
show_hint(
    "Each mark is one round that looked at the request and found its state not usable; hollow ones are what the probe "
    "found behind the stop of the scan. The bar ends where the request was selected."
)
open_it = partial(open_request, run_facts.label_of(runs, run))
awaited = read(blocked.producers, selection)
show_section("Who waited for whom", meanings["awaited_producers"])
show_figure(dependency_graph(awaited, run), "dependency_graph", open_it)
show_hint("From the request that writes a state to those that wait for it. Click a request to open it.")
show_section("Producers that others waited for", meanings["awaited_producers"])
show_figure(producers(awaited, run), "producers")
show_section("The longest waits of all requests", meanings["starvation"])
show_table(read(blocked.starvation, selection, run), "No request of this run waited.", "starvation")
show_section("Recovered: the rows that selected refused requests", meanings["recovered_rows"])
recovered = read(blocked.recovered, selection, run)
show_table(recovered, "No refused request of this run was selected later.", "recovered_rows")
show_section("The same in numbers")
show_table(read(blocked.consumers_of_run, selection, run), "No request of this run was ever blocked.", "request_lives")
