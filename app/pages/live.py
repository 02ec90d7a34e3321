"""Live: the last rounds of a run that is being recorded, as they come in."""

from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.live_view import live_view
from radixflow.app.queries import run_facts
from radixflow.app.queries.cached import read

start_page("Live", read(run_facts.runs, opened_runs()))
live_view()
