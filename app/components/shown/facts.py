"""Tables with the facts of runs, and with the faults found in them."""

import pyarrow as pa
import streamlit as st

from radixflow.app import units
from radixflow.app.components.shown.figure_view import show_table
from radixflow.app.components.text import plain_markdown
from radixflow.app.sentences.run_state import FACTS, run_sentence, written_fact


def show_faults(ledger: pa.Table, segments: pa.Table, runs: pa.Table, findings: list[str]) -> None:
    """Show what is wrong with the recordings and where their engines stalled, or that nothing was found.

    Args:
        ledger: Rows of ``ledger_faults``.
        segments: Rows of ``segment_faults``.
        runs: Rows of ``runs``, for drops and faults of the recording itself.
        findings: Sentences about stalls.
    """
    for sentence in findings:
        st.warning(plain_markdown(sentence), icon=":material/hourglass_disabled:")
    lost = [run for run in runs.to_pylist() if run["num_drops"] or run["num_faults"]]
    cut_short = [run for run in runs.to_pylist() if run["state"] == "incomplete"]
    if not ledger.num_rows and not segments.num_rows and not lost and not cut_short:
        closed = "both ledgers close, every segment can be read, no row was lost."
        st.success(
            f"Nothing else found: {closed}" if findings else f"Nothing found: {closed}",
            icon=":material/check_circle:",
        )
        return
    for run in cut_short:
        st.error(
            f"{plain_markdown(run['label'])}: the recording ended early; requests that had not ended are missing.",
            icon=":material/error:",
        )
    for run in lost:
        st.error(
            f"{plain_markdown(run['label'])}: {units.counted(run['num_drops'] or 0, 'row')} lost, "
            f"{units.counted(run['num_faults'] or 0, 'fault')} reported while it was recorded.",
            icon=":material/error:",
        )
    if segments.num_rows:
        st.error(
            f"{units.counted(segments.num_rows, 'segment')} left out, because unreadable.", icon=":material/error:"
        )
        show_table(segments.drop_columns(["run"]), "")
    if ledger.num_rows:
        st.error(
            f"{units.counted(ledger.num_rows, 'ledger entry', 'ledger entries')} that do not close.",
            icon=":material/error:",
        )
        show_table(ledger.drop_columns(["run"]), "")


def show_run_facts(runs: pa.Table) -> None:
    """Show what each run is: a sentence, and every fact of its manifest."""
    for run in runs.to_pylist():
        st.markdown(f"**{plain_markdown(run['label'])}** — {plain_markdown(run_sentence(run))}")
    rows = runs.to_pylist()
    columns = {"fact": list(FACTS.values())}
    for run in rows:
        columns[str(run["label"])] = [written_fact(run[column]) for column in FACTS]
    with st.expander("Every fact of the manifests"):
        show_table(pa.table(columns), "No run is chosen.")
