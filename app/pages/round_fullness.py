"""Round fullness: how many rows and tokens the rounds hold, arm beside arm."""

from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.components.shown.side_by_side import side_by_side
from radixflow.app.figures.fullness.fullness_by_round import fullness_by_round
from radixflow.app.figures.fullness.rows_distribution import rows_distribution
from radixflow.app.figures.fullness.slot_ledger import slot_ledger
from radixflow.app.figures.fullness.stop_reasons import stop_reasons
from radixflow.app.figures.fullness.tokens_distribution import tokens_distribution
from radixflow.app.queries import fullness, run_facts
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences.fullness import bound_sentence, fullness_sentence
from radixflow.app.sentences.reasons import outcomes_in_words

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Round fullness", runs)
summary = read(run_facts.run_summary, selection)
show_lead(fullness_sentence(summary))
step = fullness.rounds_per_bar(summary)
show_figure(fullness_by_round(read(fullness.fullness_by_round, selection, step), runs), "fullness_by_round")

meanings = definitions().views
left, right = side_by_side(2)
with left:
    show_section("Rounds by rows used", meanings["fullness_distribution"])
    show_figure(rows_distribution(read(fullness.rows_distribution, selection), runs), "rows_distribution")
with right:
    show_section("Rounds by share of the token budget", meanings["fullness_distribution"])
    show_figure(tokens_distribution(read(fullness.tokens_distribution, selection), runs), "tokens_distribution")

show_section("How few rounds the work could fill", meanings["capacity_bound"])
bounds = read(fullness.capacity_bound, selection)
show_text(bound_sentence(bounds, summary))
show_table(bounds.drop_columns(["run"]), "No bound is known for these runs.", "capacity_bound")
show_hint("A bound, not an aim: it knows no arrival, no dependency and no block, and belongs to the policy of its run.")

show_section("What ended the scans", meanings["stop_reasons"])
show_figure(stop_reasons(read(fullness.stop_reasons, selection), runs), "stop_reasons")
show_section("How the looks at waiting requests ended", meanings["visit_outcomes"])
outcomes = outcomes_in_words(read(fullness.visit_outcomes, selection))
show_table(outcomes, "No waiting request was looked at without being taken.", "visit_outcomes")

show_section("Where the row slots went")
show_figure(slot_ledger(read(fullness.slot_totals, selection), runs), "slot_ledger")
show_section("The same in rows and in time", meanings["slot_ledger"])
show_table(read(fullness.slot_ledger, selection), "No round was recorded.", "slot_ledger")
