"""Cost shift: from the cost of one arm to that of the other, through eliminated rounds and dearer ones."""

from radixflow.app.components.addresses.links import open_round_of
from radixflow.app.components.choices.arm_choice import choose_pair
from radixflow.app.components.choices.clock_choice import choose_clock
from radixflow.app.components.frame.lead import show_hint, show_lead, show_section, show_text
from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.shown.figure_view import show_figure, show_table
from radixflow.app.components.shown.numbers_table import compared_numbers
from radixflow.app.figures.cost.cost_waterfall import cost_waterfall
from radixflow.app.figures.cost.round_costs import round_costs
from radixflow.app.queries import costs, run_facts
from radixflow.app.queries.cached import definitions, read
from radixflow.app.sentences import cost_shift as say

selection = opened_runs()
runs = read(run_facts.runs, selection)
start_page("Cost shift", runs)
pair = choose_pair(runs, read(run_facts.paired_summary, selection))
if pair is None:
    show_hint("Two runs over the same offered stream are needed. Choose a second arm in the sidebar, or record one.")
else:
    run_a, run_b = pair.first["run"], pair.second["run"]
    shifts = read(costs.shifts, selection, run_a, run_b)
    rows, meanings = shifts.to_pylist(), definitions().views
    show_lead(say.cost_sentences(shifts))
    show_section("From one arm to the other", meanings["cost_shift"])
    show_figure(cost_waterfall(shifts, pair.first, pair.second, say.CLOCKS), "cost_waterfall")
    show_hint(say.missing_clocks_sentence(shifts))
    if rows:
        show_section("What fuller batches explain", meanings["cost_shift_by_shape"])
        for row in rows:
            show_text(say.shape_sentence(row))
        show_section("What a round costs against what it holds", meanings["round_cost_shapes"])
        clock = choose_clock(shifts["clock"].to_pylist())
        rounds = read(costs.rounds, selection, run_a, run_b, clock, costs.every_nth_round(shifts))
        show_figure(round_costs(rounds, runs), "round_costs", open_round_of)
        show_hint("The size of a point says how many rows the round held. Click a point for its round.")
        show_section("The same in numbers")
        compared_numbers(say.numbers(shifts), ["cost_shift", "cost_shift_by_shape"], definitions())

times = read(costs.host_times, selection)
show_section("What a round costs the host, and the time between rounds", definitions().views["host_times"])
show_text(say.host_sentence(times))
show_table(times, "No round was recorded.", "host_times")
