"""Whether a run is what it says: files, counts, joins, both ledgers, order of rounds, slots and times."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import duckdb

from radixflow.schema.checking.check_queries import CROSS_CHECKS, ORDERED_TIMES
from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import MANIFEST_NAME, is_run
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.segments.footers import decoding_fault, read_segment
from radixflow.schema.tables import ALL_TABLES

EXAMPLES = 5
"""How many faults of one kind are each given a sentence; how many more there are is said in one further sentence."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a run.

    Attributes:
        where: File, table or view that it was found in.
        sentence: What is wrong, for a person.
    """

    where: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.where}: {self.sentence}"


def check_run(path: Path | str) -> list[Fault]:
    """Check a run against the schema, its own counts, its joins and its ledgers.

    Args:
        path: Run directory.

    Returns:
        What is wrong; an empty list when nothing is. Of a run that is still being recorded, what has been written so
        far is checked.

    Raises:
        RadixflowError: The path is no run.
    """
    run = RunDirectory(path)
    try:
        state = run.state
    except RadixflowError as error:
        if not is_run(path):
            raise
        return [Fault(MANIFEST_NAME, str(error))]
    faults = [*_state_faults(run, state), *_said_faults(run), *_content_faults(run)]
    if any("cannot be decoded" in fault.sentence for fault in faults):
        return faults  # no query over these files can work
    with open_runs([path]) as connection:
        faults += _segment_faults(connection)
        faults += _count_faults(connection, run, state)
        for table, where, sentence in CROSS_CHECKS:
            faults += _query_faults(connection, table, where, sentence)
        faults += _time_faults(connection)
        faults += _join_faults(connection, state)
        for ledger in ("slot", "token"):
            faults += _query_faults(connection, "ledger_faults", f"ledger = '{ledger}'", "sentence")
    return faults


def _state_faults(run: RunDirectory, state: str) -> Iterator[Fault]:
    if state == "incomplete":
        open_writers = [name for name, status in run.writers().items() if not status.get("closed")]
        who = f"; not closed: {', '.join(open_writers)}" if open_writers else ""
        repaired = f" (repaired {run.manifest.repaired_utc})" if run.manifest.repaired_utc else ""
        yield Fault(MANIFEST_NAME, f"The recording did not come to its end, the run is incomplete{repaired}{who}.")
    if state != "recording":
        for path in run.unfinished_files():
            yield Fault(str(path.relative_to(run.path)), "A file was being written when the recording ended.")


def _said_faults(run: RunDirectory) -> Iterator[Fault]:
    """What the recording itself said that went wrong."""
    writers = run.writers()
    for name, status in writers.items():
        for sentence in status.get("faults", []):
            yield Fault(f"writers/{name}.json", str(sentence))
        for table, count in status.get("drops", {}).items():
            yield Fault(f"writers/{name}.json", f"{count} rows of {table} were dropped.")
    said = {sentence for status in writers.values() for sentence in status.get("faults", [])}
    for sentence in run.manifest.faults:
        if sentence not in said:
            yield Fault(MANIFEST_NAME, sentence)
    if not any(status.get("drops") for status in writers.values()):
        for table, count in run.manifest.drops.items():
            if count:
                yield Fault(MANIFEST_NAME, f"{count} rows of {table} were dropped.")


def _content_faults(run: RunDirectory) -> Iterator[Fault]:
    """Decode every file of a table's schema; what has none, or another, is told by ``segment_faults``."""
    for table, schema in ALL_TABLES.items():
        for path in run.segments(table):
            fault = None if read_segment(path, schema).fault else decoding_fault(path)
            if fault is not None:
                yield Fault(f"{table}/{path.name}", f"The file {fault}")


def _segment_faults(connection: duckdb.DuckDBPyConnection) -> Iterator[Fault]:
    rows = connection.execute("SELECT table_name, file_name, sentence FROM segment_faults").fetchall()
    for table, name, sentence in rows:
        yield Fault(f"{table}/{name}" if table else name, sentence)


def _count_faults(connection: duckdb.DuckDBPyConnection, run: RunDirectory, state: str) -> Iterator[Fault]:
    """Compare the counts of the manifest, which are written when a recording ends and by a repair."""
    if state != "complete" and not run.manifest.repaired_utc:
        return
    for table in ALL_TABLES:
        ((found,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
        said = run.manifest.tables.get(table, 0)
        if said != found:
            yield Fault(MANIFEST_NAME, f"It says {said} rows of {table}, but {found} can be read.")


def _time_faults(connection: duckdb.DuckDBPyConnection) -> Iterator[Fault]:
    for table, name, columns in ORDERED_TIMES:
        for earlier, later in pairwise(columns):
            sentence = f"format('{name} {{}}: {later} is before {earlier}.', {name})"
            yield from _query_faults(connection, table, f"{later} < {earlier}", sentence)


def _join_faults(connection: duckdb.DuckDBPyConnection, state: str) -> Iterator[Fault]:
    """Follow every declared join; in a run without an end, only those to rows that are written before.

    Of a sample, the rounds that are joined may not be kept.
    """
    ((num_offers,),) = connection.execute("SELECT count(*) FROM offers").fetchall()
    ((is_sampled,),) = connection.execute("SELECT sampled_fraction IS NOT NULL FROM runs").fetchall()
    # Requests and offers are written when their fate is known; a round is written when its output came back.
    absent = {"requests", "offers"} if state != "complete" else set()
    absent |= {"offers"} if not num_offers else set()
    absent |= {"rounds"} if is_sampled else set()
    for table, schema in ALL_TABLES.items():
        for field in schema:
            target, _, column = field.metadata.get(b"joins", b"").decode().partition(".")
            if not target or target in absent:
                continue
            where = f'"{field.name}" IS NOT NULL AND "{field.name}" NOT IN (SELECT "{column}" FROM {target})'
            if target == "rounds" and state != "complete":
                where += f' AND "{field.name}" <= (SELECT max(round) FROM rounds)'
            sentence = f"format('{field.name} {{}} is not in {target}.', \"{field.name}\")"
            yield from _query_faults(connection, table, where, sentence)


def _query_faults(connection: duckdb.DuckDBPyConnection, table: str, where: str, sentence: str) -> Iterator[Fault]:
    """Yield a fault for each different sentence over the rows of ``table`` (a table, a view or a subquery)."""
    source = table if table.isidentifier() else f"({table.partition(':')[2]})"
    name = table.partition(":")[0]
    query = f"SELECT {sentence} AS sentence, count(*) AS times FROM {source} WHERE {where} GROUP BY ALL ORDER BY ALL"
    found = connection.execute(f"SELECT sentence, count(*) OVER () FROM ({query}) LIMIT {EXAMPLES}").fetchall()
    for text, _ in found:
        yield Fault(name, text)
    if found and found[0][1] > EXAMPLES:
        yield Fault(name, f"... and {found[0][1] - EXAMPLES} more of this kind.")
