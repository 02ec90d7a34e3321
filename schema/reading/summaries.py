"""Views that read whole runs, answered once: the first answer is kept and used until a run has another content.

A number stays defined by the SQL of its view alone. A view with ``-- cached by: run`` (or ``run_a, run_b``) in its
header has rows of single runs (or pairs) that depend on nothing but these; only the labels of runs depend on the other
opened ones, and they are put in anew. Its answer is kept in the user's cache folder (``summary_cache.py``) under a
digest of the content of the run and of every view. Live and incomplete runs are always computed.
"""

import hashlib
import re
import threading
from collections.abc import Callable
from functools import cache
from itertools import permutations
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.run_content import read_content
from radixflow.schema.reading.summary_cache import read_summary, write_summary
from radixflow.schema.run_files.run_directory import RunDirectory
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.views.catalog import cached_by, dependencies, view_query, view_sources

LEAST_ROWS = 1_000_000
"""Opened runs with fewer rows than this in all their tables together are computed anew each time: it is quick."""
Progress = Callable[[str], None]
"""A function that is called with the name of a view before that view is computed, to show progress."""
_WORD = re.compile(r"\w+")
_LOCKS = [threading.Lock() for _ in range(64)]


class Part(NamedTuple):
    """The rows of a view that are kept as one entry.

    Attributes:
        runs: Numbers of the run, or of both runs of a pair.
        key: Name of the entry.
    """

    runs: tuple[int, ...]
    key: str


def use_summaries(connection: duckdb.DuckDBPyConnection, query: str, progress: Progress | None = None) -> None:
    """Let the views that a query reads answer from the cache of summaries, and fill it where it is empty.

    Args:
        connection: Opened runs.
        query: SQL that is about to be asked.
        progress: Called with the name of each view before it is computed; None to stay silent.
    """
    cursor = connection.cursor()
    try:
        opened = cursor.execute("SELECT run, path, digest, num_rows FROM opened_contents ORDER BY run").fetchall()
        if sum(num_rows for *_, num_rows in opened) < LEAST_ROWS:
            return
        with _LOCKS[hash(tuple(opened)) % len(_LOCKS)]:
            work = _Work(cursor, opened, progress)
            for view in sorted(set(_WORD.findall(query)) & set(view_sources())):
                work.prepare(view)
    finally:
        cursor.close()


class _Work:
    """What is done for one query.

    Args:
        cursor: Where to compute.
        opened: Number, path, digest and rows of each opened run.
        progress: As in :func:`use_summaries`.
    """

    def __init__(
        self, cursor: duckdb.DuckDBPyConnection, opened: list[tuple[int, str, str | None, int]],
        progress: Progress | None,
    ) -> None:  # fmt: skip
        self._cursor = cursor
        self._paths = {run: path for run, path, _, _ in opened}
        self._digests = {run: digest for run, _, digest, _ in opened}
        self._progress = progress
        self._is_current: bool | None = None
        tables = cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        self._done = {name.removeprefix("summary_of_") for (name,) in tables if name.startswith("summary_of_")}

    def prepare(self, view: str) -> None:
        """Let a view, or else the views below it, answer from summaries."""
        if view in self._done or view not in view_sources():
            return
        self._done.add(view)
        columns = cached_by(view)
        parts = self._parts(columns)
        kept = {part: table for part in parts if (table := read_summary(part.key, view)) is not None}
        if not parts or len(kept) < len(parts):
            for need in dependencies(view_sources()[view]):
                self.prepare(need)
        if parts:
            self._use(view, columns, parts, kept)

    def _parts(self, columns: tuple[str, ...]) -> list[Part]:
        """Return what a view is kept by: runs, or pairs if every run may be kept."""
        known = {run: digest for run, digest in self._digests.items() if digest}
        if not columns or (len(columns) > 1 and len(known) < len(self._digests)):
            return []
        return [Part(runs, _key(*(known[run] for run in runs))) for runs in permutations(known, len(columns))]

    def _use(self, view: str, columns: tuple[str, ...], parts: list[Part], kept: dict[Part, pa.Table]) -> None:
        missing = [part for part in parts if part not in kept]
        if missing:
            if self._progress:
                self._progress(view)
            answer = self._cursor.sql(f'SELECT * FROM "{view}"').to_arrow_table()
            kept |= {part: _rows_of(answer, columns, part) for part in missing}
        if self._is_current is None or missing:
            self._is_current = self._is_unchanged()
        if not self._is_current:
            return
        for part in missing:
            write_summary(part.key, view, kept[part])
        tables = [_numbered(kept[part], columns, part.runs) for part in parts]
        self._replace(view, columns, pa.concat_tables(tables), {run for part in parts for run in part.runs})

    def _replace(self, view: str, columns: tuple[str, ...], table: pa.Table, runs: set[int]) -> None:
        """Let the view read a table; runs that are not in it are computed as before."""
        labels = {"label": "run", "label_a": "run_a", "label_b": "run_b"}
        selected = [
            f'(SELECT label FROM runs WHERE run = kept."{labels[name]}") AS "{name}"' if name in labels else f'"{name}"'
            for name in table.column_names
        ]
        query = f'SELECT {", ".join(selected)} FROM "summary_of_{view}" AS kept'
        if runs != set(self._digests):
            live = ", ".join(str(run) for run in set(self._digests) - runs)
            query += f" UNION ALL SELECT * FROM ({view_query(view)}) WHERE {columns[0]} IN ({live})"
        self._cursor.register("summary_rows", table)
        self._cursor.execute(f'CREATE TABLE "summary_of_{view}" AS SELECT * FROM summary_rows')
        self._cursor.unregister("summary_rows")
        self._cursor.execute(f'CREATE OR REPLACE VIEW "{view}" AS {query}')

    def _is_unchanged(self) -> bool:
        """Say whether the runs are what they were when they were opened: only then do digests and answers agree."""
        for number, path in self._paths.items():
            run = RunDirectory(path)
            try:
                found = read_content(run, run.manifest).digest
            except (RadixflowError, OSError):
                return False
            if self._digests[number] not in (None, found):
                return False
        return True


def _rows_of(answer: pa.Table, columns: tuple[str, ...], part: Part) -> pa.Table:
    for name, run in zip(columns, part.runs, strict=True):
        answer = answer.filter(pc.equal(answer[name], run))
    return answer


def _numbered(table: pa.Table, columns: tuple[str, ...], runs: tuple[int, ...]) -> pa.Table:
    """Give the rows the numbers that the runs have among those opened now."""
    for name, run in zip(columns, runs, strict=True):
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array([run] * table.num_rows, pa.int32()))
    return table.replace_schema_metadata(None)


def _key(*digests: str) -> str:
    return hashlib.blake2b("\n".join([_definitions(), *digests]).encode(), digest_size=20).hexdigest()


@cache
def _definitions() -> str:
    """Return a digest of all that makes a number of a recording: tables, views, and what computes them."""
    parts = [duckdb.__version__, *view_sources().values(), *(str(schema) for schema in ALL_TABLES.values())]
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=20).hexdigest()
