"""Round: one round under the lens. What it held, whom its scan took or refused and why, what it could have held."""

from functools import partial

from radixflow.app.components.addresses.links import open_request
from radixflow.app.components.choices.round_choice import choose_round
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.figures.lens.round_budget import round_budget
from radixflow.app.figures.lens.round_scan import round_scan
from radixflow.app.figures.lens.round_spans import round_spans
from radixflow.app.queries import round_lens, run_facts
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences import round_lens as say

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Round", runs)
run, number, ranges = choose_round(runs, selection)
found = read(round_lens.one_round, selection, run["run"], number)
meanings = definitions().views
if found.num_rows == 0:
    show_lead(say.no_round_sentence(number, ranges))
else:
    (row,) = found.to_pylist()
    scan = read(round_lens.scan, selection, run["run"], number)
    show_lead(say.round_sentence(row))
    show_figure(round_budget(found, read(round_lens.cells, selection, run["run"], number)), "round_budget")

    show_section("The scan in its order", meanings["round_scan"])
    show_text(say.scan_sentence(row, scan), say.counterfactual_sentence(row, scan))
    show_figure(round_scan(found, scan), "round_scan", partial(open_request, run["label"]))
    show_hint("Hollow marks and vermilion bars are what the probe found behind the stop. Click a mark for its request.")

    show_section("The time of the round", meanings["round_spans"])
    show_figure(round_spans(read(round_lens.spans, selection, run["run"], number)), "round_spans")
    show_text(say.queue_sentence(row))

    show_section("Its rows", meanings["request_rows"])
    rows = read(round_lens.rows, selection, run["run"], number)
    show_table(rows, "No row of this round is recorded.", "request_rows", absent="none")
    show_section("Every look of the scan and of the probe")
    show_table(say.explained(scan), "This round considered no request.", "round_scan", absent="–")
