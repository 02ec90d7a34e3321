"""Overview: what the runs are, whether they are complete, the numbers that matter, and what is wrong."""

from radixflow.app.components.frame.lead import show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.facts import show_faults, show_run_facts
from radixflow.app.components.shown.figure_view import show_figure
from radixflow.app.components.shown.number_cards import number_cards
from radixflow.app.figures.fullness.slot_ledger import slot_ledger
from radixflow.app.queries import fullness, run_facts, stalls
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences.bubbles import bubble_sentence
from radixflow.app.sentences.stalls import stall_findings, unknown_stalls

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Overview", runs)
summary = read(run_facts.run_summary, selection)
show_lead(bubble_sentence(summary))
number_cards(runs, summary, read(run_facts.paired_summary, selection), definitions())

show_section("Where the row slots went")
show_figure(slot_ledger(read(fullness.slot_totals, selection), runs), "slot_ledger")

show_section("What is wrong")
stalled = read(stalls.summary, selection)
show_faults(
    read(run_facts.ledger_faults, selection),
    read(run_facts.segment_faults, selection),
    runs,
    stall_findings(stalled, read(stalls.reasons, selection)),
)
for sentence in unknown_stalls(stalled):
    show_text(sentence)

show_section("What the runs are")
show_run_facts(runs)
