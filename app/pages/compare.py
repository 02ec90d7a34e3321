"""Compare: two arms over one stream, request by request."""

from radixflow.app.components.choices.arm_choice import choose_pair
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.components.shown.paired_table import paired_table
from radixflow.app.components.shown.side_by_side import side_by_side
from radixflow.app.figures.pairs.paired_differences import paired_differences
from radixflow.app.figures.pairs.paired_latencies import paired_latencies
from radixflow.app.queries import pairs, run_facts
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences.comparison import comparison_sentence
from radixflow.app.sentences.outputs import NEAR_TIES, audit_sentence

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Compare", runs)
pair = choose_pair(runs, read(run_facts.paired_summary, selection))
if pair is None:
    show_hint("Two runs over the same offered stream are needed. Choose a second arm in the sidebar, or record one.")
else:
    show_lead(comparison_sentence(pair.difference))
    paired_table(read(run_facts.run_summary, selection), pair, definitions())
    requests = read(pairs.paired_requests, selection, pair.first["run"], pair.second["run"])
    left, right = side_by_side(2)
    with left:
        show_section("Latency difference, request by request")
        show_figure(paired_differences(requests, pair.first, pair.second), "paired_differences")
    with right:
        show_section("Latency against latency")
        show_figure(paired_latencies(requests, pair.first, pair.second), "paired_latencies")
    meanings = definitions().views
    audit = read(pairs.output_audit, selection, pair.first["run"], pair.second["run"])
    differing = read(pairs.first_token_disagreements, selection, pair.first["run"], pair.second["run"])
    show_section("Do the answers agree?", meanings["output_audit"])
    show_text(audit_sentence(audit, differing, pair.first["label"], pair.second["label"]))
    show_hint(NEAR_TIES)
    show_table(audit, "The runs share no request.", "output_audit")
    show_section("Requests whose first tokens differ", meanings["output_disagreements"])
    show_table(differing, "No first token is known to differ.", "output_disagreements")
