"""Sensitivity and load: whether a gain holds over orders, regimes and repeats, and what load does to it."""

from radixflow.app.components.choices.policy_choice import choose_policies, show_doubts
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import experiment_runs, opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.figures.latency.load_curve import load_curve
from radixflow.app.figures.pairs.gains_by_stream import gains_by_stream
from radixflow.app.queries import run_facts, sensitivity
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences import sensitivity as say

start_page("Sensitivity and load", read(run_facts.runs, opened_runs()))
experiment, num_found = experiment_runs()
runs, meanings = read(run_facts.runs, experiment), definitions().views
show_text(say.experiment_sentence(runs, num_found))
show_doubts(say.doubts(runs))

policies = choose_policies(read(sensitivity.pairs_of_policies, experiment))
if policies is None:
    show_hint("Two policies over the same offered stream are needed to compare them.")
else:
    summary = read(sensitivity.summary, experiment, *policies)
    show_lead(say.gain_sentence(summary, *policies))
    show_section("What it gains, stream by stream", meanings["sensitivity"])
    show_figure(gains_by_stream(read(sensitivity.gains, experiment, *policies), policies[1]), "gains_by_stream")
    show_section("How far the gain holds", meanings["sensitivity_summary"])
    show_table(summary, "No stream was run under both.", "sensitivity_summary", absent="none")

show_section("What load does", meanings["load_curve"])
load = read(sensitivity.load, experiment)
show_figure(load_curve(load), "load_curve")
show_hint("One point a run; a circle is a cold stream, a square a mixed one, a diamond one of reuse.")
show_table(load, "No run of this experiment was offered by our client.", "load_curve")

show_section("Every policy over all its streams", meanings["arm_summary"])
show_table(read(sensitivity.arms, experiment), "No run of this experiment can be read.", "arm_summary")
