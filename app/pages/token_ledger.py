"""Token ledger: where every prompt token came from, and what was computed more than once."""

from functools import partial

from radixflow.app.components.addresses.links import open_request
from radixflow.app.components.choices.arm_choice import choose_arm
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.figures.tokens.repeated_intervals import repeated_intervals
from radixflow.app.figures.tokens.repeated_tokens import repeated_tokens
from radixflow.app.figures.tokens.token_ledger import token_ledger
from radixflow.app.queries import run_facts, tokens
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences import tokens as say

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Token ledger", runs)
ledger, meanings = read(tokens.ledger, selection), definitions().views
show_lead(say.ledger_sentence(ledger))
show_figure(token_ledger(read(tokens.parts, selection)), "token_ledger")

show_section("Requests whose ledger does not close", meanings["ledger_faults"])
show_table(read(tokens.faults, selection), "Every ledger of a finished request closes.", "ledger_faults")

show_section("Computed more than once, by cause", meanings["repeated_intervals"])
show_text(say.repeated_sentence(ledger))
show_figure(repeated_tokens(read(tokens.repeated_by_cause, selection), runs), "repeated_tokens")

show_section("Which intervals were computed again", meanings["repeated_intervals"])
run = choose_arm(runs)
label = run_facts.label_of(runs, run)
longest = read(tokens.repeated, selection, run, tokens.MAX_INTERVALS)
show_figure(repeated_intervals(longest), "repeated_intervals", partial(open_request, label))
show_hint("Each bar is one interval, the longest on top. Click a bar for its request.")
every = read(tokens.repeated, selection, run, tokens.MOST_LISTED)
show_table(every, "Nothing was seen to be computed twice in this run.", "repeated_intervals", absent="none")

show_section("What the prefix cache gave", meanings["reuse_summary"])
show_table(read(tokens.reuse, selection), "No request of these runs was selected.", "reuse_summary")
restored = read(tokens.restored, selection)
show_section("States that rows restored", meanings["restored_summary"])
show_text(say.restored_sentence(restored))
show_table(restored, "No engine of these runs was observed.", "restored_summary")
