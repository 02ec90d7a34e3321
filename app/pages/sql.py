"""SQL: questions of one's own to the tables and views of the opened runs, read-only."""

from radixflow.app.components.frame.opened_runs import opened_runs
from radixflow.app.components.frame.page_frame import start_page
from radixflow.app.components.sql_console import sql_console
from radixflow.app.queries import run_facts
from radixflow.app.queries.cached import read

selection = opened_runs()
start_page("SQL", read(run_facts.runs, selection))
sql_console(selection)
