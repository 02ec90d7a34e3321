"""The app's only cache: keeps connections and query results across the reruns and sessions of Streamlit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import duckdb
import pyarrow as pa
import streamlit as st

from radixflow.app.queries.console import Answer
from radixflow.app.queries.console_process import ask_apart
from radixflow.app.queries.definitions import Definitions, read_definitions
from radixflow.app.queries.run_catalog import Catalog, fingerprint, list_runs
from radixflow.app.queries.windowed import Window, cut, holds
from radixflow.schema.reading.connection import open_runs

P = ParamSpec("P")
R = TypeVar("R")


class Selection(NamedTuple):
    """The runs that a person looks at.

    Attributes:
        paths: Their folders; the index in here is the column ``run`` of every view.
        fingerprint: Hash of which files they consist of now; when it changes, everything is read again.
    """

    paths: tuple[str, ...]
    fingerprint: str


def select(paths: tuple[str, ...]) -> Selection:
    """Make a selection of the runs as they are on the disk now."""
    return Selection(paths, fingerprint(paths))


def read(
    query: Callable[Concatenate[duckdb.DuckDBPyConnection, P], pa.Table],
    selection: Selection,
    *arguments: P.args,
    **named: P.kwargs,
) -> pa.Table:
    """Run one query over a selection, or take its answer from the cache."""
    name = f"{query.__module__}.{query.__qualname__}"
    return _table(name, selection, arguments, tuple(sorted(named.items())), query)


def read_part(
    query: Callable[Concatenate[duckdb.DuckDBPyConnection, Window, P], pa.Table],
    is_whole: Callable[[pa.Table], bool],
    selection: Selection,
    window: Window,
    *arguments: P.args,
    **named: P.kwargs,
) -> pa.Table:
    """Do as :func:`read`, of a window: a step into the window that was read last takes its rows from there.

    Args:
        query: What to read.
        is_whole: Says whether a table holds every row of its window, so that a narrower one can be cut from it.
        selection: The opened runs.
        window: The window, the first argument of the query.
        arguments: Its other arguments.
        named: Its named arguments.
    """
    place, asked = f"read_part_{query.__qualname__}", (selection, arguments, named)
    kept = st.session_state.get(place)
    if kept and kept[0] == asked and holds(kept[1], window):
        return cut(kept[2], window)
    table = read(query, selection, window, *arguments, **named)
    if is_whole(table):
        st.session_state[place] = (asked, window, table)
    return table


def ask(
    query: Callable[Concatenate[duckdb.DuckDBPyConnection, P], R],
    selection: Selection,
    *arguments: P.args,
    **named: P.kwargs,
) -> R:
    """Run one query over a selection whose answer is not a table; it is not cached."""
    return query(_connection(selection), *arguments, **named)


def ask_console(sql: str, selection: Selection) -> Answer:
    """Run SQL that a person has written, within the console's limits of time, memory and rows."""
    return ask_apart(selection.paths, sql)


@st.cache_data(ttl=2, max_entries=4, show_spinner=False)
def catalog(root: str) -> Catalog:
    """List the runs below a folder, looked up again after two seconds."""
    return list_runs(root)


@st.cache_data(show_spinner=False)
def definitions() -> Definitions:
    """Read what each column of each view means."""
    return read_definitions()


@st.cache_data(max_entries=400, show_spinner="Adding up the runs; long ones only once")
def _table(
    name: str, selection: Selection, arguments: tuple[Any, ...], named: tuple[Any, ...], _query: Callable[..., pa.Table]
) -> pa.Table:
    return _query(_connection(selection), *arguments, **dict(named))


@st.cache_resource(max_entries=4, show_spinner="Opening the runs")
def _connection(selection: Selection) -> duckdb.DuckDBPyConnection:
    return open_runs([Path(path) for path in selection.paths])
