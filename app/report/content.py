"""What a report says: sections of sentences, figures and tables, read from the opened runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import duckdb
import plotly.graph_objects as go
import pyarrow as pa

from radixflow.app import units
from radixflow.app.figures.blocked.consumer_waits import consumer_waits
from radixflow.app.figures.blocked.visits_by_cause import visits_by_cause
from radixflow.app.figures.blocked.waiting_times import waiting_times
from radixflow.app.figures.fullness.fullness_by_round import fullness_by_round
from radixflow.app.figures.fullness.slot_ledger import slot_ledger
from radixflow.app.figures.fullness.stop_reasons import stop_reasons
from radixflow.app.figures.pairs.paired_differences import paired_differences
from radixflow.app.figures.timeline.bubble_timeline import TimelineData, bubble_timeline
from radixflow.app.queries import blocked, fullness, latency, pairs, run_facts, slot_raster, stalls
from radixflow.app.queries.definitions import Definitions
from radixflow.app.sentences.blocked import blocked_sentence
from radixflow.app.sentences.bubbles import bubble_sentence, level_words
from radixflow.app.sentences.comparison import comparison_sentence
from radixflow.app.sentences.fullness import bound_sentence, fullness_sentence
from radixflow.app.sentences.numbers import NUMBERS, written_difference, written_values
from radixflow.app.sentences.outputs import NEAR_TIES, audit_sentence
from radixflow.app.sentences.run_state import FACTS, written_fact
from radixflow.app.sentences.stalls import stall_findings, unknown_stalls

LONGEST_LIST = 40
"""Rows of a list of requests that a report shows; the app shows all."""


@dataclass
class Table:
    """A table of written values.

    Attributes:
        head: Column titles.
        rows: One list of texts a row.
        hints: What each row means, shown when hovering over its first cell; may be empty.
    """

    head: list[str]
    rows: list[list[str]]
    hints: list[str] = field(default_factory=list)


class Captioned(NamedTuple):
    """One figure of a report.

    Attributes:
        name: Name within the report, and of its download.
        caption: What it shows.
        figure: The figure.
    """

    name: str
    caption: str
    figure: go.Figure


@dataclass
class Section:
    """One section of a report.

    Attributes:
        title: Heading.
        sentence: What the section shows, in words.
        figures: Figures, in order.
        tables: Tables below the figures.
    """

    title: str
    sentence: str = ""
    figures: list[Captioned] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def report_sections(connection: duckdb.DuckDBPyConnection, definitions: Definitions) -> list[Section]:
    """Make the sections of a report over the opened runs."""
    runs = run_facts.runs(connection)
    summary = run_facts.run_summary(connection)
    return [
        _numbers(summary, definitions),
        _timeline(connection, runs),
        *_comparisons(connection, runs, definitions),
        _fullness(connection, runs, summary),
        _blocked(connection, runs, summary),
        _faults(connection),
        _facts(runs),
        _definitions(definitions),
    ]


def _numbers(summary: pa.Table, definitions: Definitions) -> Section:
    rows = summary.to_pylist()
    table = Table(
        ["", *(str(row["label"]) for row in rows)],
        [[number.title, *written_values(number, rows)] for number in NUMBERS],
        [definitions.of("run_summary", number.column) or "" for number in NUMBERS],
    )
    return Section("The numbers", tables=[table])


def _timeline(connection: duckdb.DuckDBPyConnection, runs: pa.Table) -> Section:
    totals = slot_raster.window_totals(connection, slot_raster.EVERYTHING)
    level = slot_raster.choose_level(totals)
    visible = slot_raster.whole_window(slot_raster.extent(connection), "time")
    data = TimelineData(
        runs=runs,
        raster=slot_raster.raster(connection, slot_raster.EVERYTHING, level),
        tracks=slot_raster.round_tracks(connection, slot_raster.EVERYTHING, level.rounds_per_mark),
        axis="time",
        low=visible.low,
        high=visible.high,
        level=level_words(level.kind, level.rounds_per_mark),
        stalls=stalls.in_window(connection, slot_raster.EVERYTHING),
    )
    ledger = slot_ledger(fullness.slot_totals(connection), runs)
    figures = [
        Captioned("timeline", "Every row slot of every round, as wide as the round lasted", bubble_timeline(data)),
        Captioned("slot-ledger", "Where the row slots of the whole run went", ledger),
    ]
    return Section("Execution-bubble timeline", bubble_sentence(totals), figures)


def _comparisons(connection: duckdb.DuckDBPyConnection, runs: pa.Table, definitions: Definitions) -> list[Section]:
    by_run = {run["run"]: run for run in runs.to_pylist()}
    sections: list[Section] = []
    for pair in run_facts.paired_summary(connection).to_pylist():
        if pair["run_a"] < pair["run_b"]:
            sections.append(_comparison(connection, pair, by_run[pair["run_a"]], by_run[pair["run_b"]], definitions))
    return sections


def _comparison(
    connection: duckdb.DuckDBPyConnection,
    pair: dict[str, Any],
    first: dict[str, Any],
    second: dict[str, Any],
    definitions: Definitions,
) -> Section:
    requests = pairs.paired_requests(connection, pair["run_a"], pair["run_b"])
    compared = [number for number in NUMBERS if number.difference is not None]
    table = Table(
        ["", f"{second['label']} minus {first['label']}"],
        [[number.title, written_difference(number, pair)] for number in compared],
        [definitions.of("paired_summary", str(number.difference)) or "" for number in compared],
    )
    figure = paired_differences(requests, first, second)
    title = f"{second['label']} against {first['label']}"
    name = f"differences-{pair['run_a']}-{pair['run_b']}"
    captioned = Captioned(name, "Latency difference, request by request", figure)
    sentence = f"{comparison_sentence(pair)} {_audit(connection, pair)}"
    return Section(title, sentence, [captioned], [table])


def _audit(connection: duckdb.DuckDBPyConnection, pair: dict[str, Any]) -> str:
    audit = pairs.output_audit(connection, pair["run_a"], pair["run_b"])
    differing = pairs.first_token_disagreements(connection, pair["run_a"], pair["run_b"])
    said = audit_sentence(audit, differing, pair["label_a"], pair["label_b"])
    return f"{said} {NEAR_TIES}" if differing.num_rows else said


def _fullness(connection: duckdb.DuckDBPyConnection, runs: pa.Table, summary: pa.Table) -> Section:
    by_round = fullness.fullness_by_round(connection, fullness.rounds_per_bar(summary))
    figures = [
        Captioned("fullness", "Rows and tokens a round", fullness_by_round(by_round, runs)),
        Captioned("stop-reasons", "What ended the scans", stop_reasons(fullness.stop_reasons(connection), runs)),
    ]
    sentence = f"{fullness_sentence(summary)} {bound_sentence(fullness.capacity_bound(connection), summary)}"
    return Section("Round fullness, and what ended the scans", sentence, figures)


def _blocked(connection: duckdb.DuckDBPyConnection, runs: pa.Table, summary: pa.Table) -> Section:
    waits = blocked.consumers(connection)
    visits = blocked.visits_of_consumers(connection)
    by_cause = visits_by_cause(blocked.visits_by_cause(connection), runs)
    waited = waiting_times(latency.ecdf(connection, "branch", "registered_to_selected"), runs)
    figures = [
        Captioned("visits-by-cause", "BLOCKED visits by cause", by_cause),
        Captioned("waiting-times", "Waiting, from registration to first selection", waited),
    ]
    tables: list[Table] = []
    for run in runs.to_pylist():
        if run["run"] in waits["run"].to_pylist():
            figure = consumer_waits(waits, visits, run["run"])
            figures.append(Captioned(f"waits-{run['run']}", f"The longest waits in {run['label']}", figure))
            tables.append(_longest_waits(blocked.consumers_of_run(connection, run["run"], LONGEST_LIST), run))
    return Section("Blocked and recovered", blocked_sentence(summary), figures, tables)


def _longest_waits(table: pa.Table, run: dict[str, Any]) -> Table:
    rows = [
        [
            str(row["request_id"]),
            units.number(row["request_group"]),
            units.number(row["num_blocked_visits"]),
            units.duration(row["waiting_ms"]),
            str(row["outcome"]),
        ]
        for row in table.to_pylist()
    ]
    return Table([f"Blocked in {run['label']}", "Request group", "BLOCKED visits", "Waited", "Outcome"], rows)


def _faults(connection: duckdb.DuckDBPyConnection) -> Section:
    found = run_facts.segment_faults(connection).to_pylist() + run_facts.ledger_faults(connection).to_pylist()
    summary = stalls.summary(connection)
    findings = stall_findings(summary, stalls.reasons(connection))
    said = [*findings, *unknown_stalls(summary)]
    if not found:
        closed = "both ledgers close and every segment can be read."
        first = closed[0].upper() + closed[1:] if findings else f"Nothing found: {closed}"
        return Section("What is wrong", " ".join([*findings, first, *unknown_stalls(summary)]))
    rows = [[str(fault["label"]), str(fault["sentence"])] for fault in found]
    sentence = (
        f"{units.counted(len(found), 'fault')} found in the recordings; the numbers above leave out what is broken."
    )
    return Section("What is wrong", " ".join([sentence, *said]), tables=[Table(["Run", "Fault"], rows)])


def _facts(runs: pa.Table) -> Section:
    rows = runs.to_pylist()
    written = [[title, *(written_fact(run[column]) for run in rows)] for column, title in FACTS.items()]
    return Section("What the runs are", tables=[Table(["", *(str(run["label"]) for run in rows)], written)])


def _definitions(definitions: Definitions) -> Section:
    shown: Sequence[str] = ("run_summary", "paired_summary", "round_occupancy", "slot_cells", "blocked_visits")
    tables = [
        Table(
            [view, "Unit", definitions.views[view]],
            [[each.column, each.unit, each.text] for each in definitions.columns if each.view == view],
        )
        for view in shown
        if view in definitions.views
    ]
    return Section(
        "Definitions", "What every number and column above means, from the views that compute them.", tables=tables
    )
