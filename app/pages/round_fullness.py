"""Round fullness: how many rows and tokens the rounds hold, arm beside arm."""

from radixflow.app.components.frame.lead import show_lead, show_section
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure
from radixflow.app.components.shown.side_by_side import side_by_side
from radixflow.app.figures.fullness.fullness_by_round import fullness_by_round
from radixflow.app.figures.fullness.rows_distribution import rows_distribution
from radixflow.app.figures.fullness.slot_ledger import slot_ledger
from radixflow.app.figures.fullness.stop_reasons import stop_reasons
from radixflow.app.queries import fullness, run_facts
from radixflow.app.queries.cached import read
from radixflow.app.sentences.fullness import fullness_sentence

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Round fullness", runs)
summary = read(run_facts.run_summary, selection)
show_lead(fullness_sentence(summary))
step = fullness.rounds_per_bar(summary)
show_figure(fullness_by_round(read(fullness.fullness_by_round, selection, step), runs), "fullness_by_round")

left, right = side_by_side(2)
with left:
    show_section("Rounds by rows used")
    show_figure(rows_distribution(read(fullness.rows_distribution, selection), runs), "rows_distribution")
with right:
    show_section("What ended the scans")
    show_figure(stop_reasons(read(fullness.stop_reasons, selection), runs), "stop_reasons")

show_section("Where the row slots went")
show_figure(slot_ledger(read(fullness.slot_totals, selection), runs), "slot_ledger")
