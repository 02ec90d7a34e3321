"""One way to run a query."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.summaries import use_summaries
from radixflow.schema.windows import RoundRange, window

_OUR_MISTAKES = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)


def read(connection: duckdb.DuckDBPyConnection, sql: str, **parameters: Any) -> pa.Table:
    """Run one SELECT with named parameters on a cursor of its own, so that several pages may read at once.

    Raises:
        RadixflowError: A file is damaged behind a footer that is whole, or went away while it was read.
    """
    cursor = connection.cursor()
    try:
        with _damage_in_a_sentence():
            use_summaries(connection, sql)
        return read_here(cursor, sql, **parameters)
    finally:
        cursor.close()


def read_here(cursor: duckdb.DuckDBPyConnection, sql: str, **parameters: Any) -> pa.Table:
    """Run one SELECT on this very cursor, with the variables that are set on it.

    Raises:
        RadixflowError: As :func:`read`.
    """
    with _damage_in_a_sentence():
        return cursor.sql(sql, params=parameters or None).to_arrow_table()


def read_rounds(connection: duckdb.DuckDBPyConnection, rounds: RoundRange, sql: str, **parameters: Any) -> pa.Table:
    """Run one SELECT about some rounds of a run, so that only the part of the files that holds them is read.

    Args:
        connection: Opened runs.
        rounds: The rounds; the SELECT must ask for them too.
        sql: The SELECT.
        parameters: Named parameters.

    Raises:
        RadixflowError: As :func:`read`.
    """
    with _damage_in_a_sentence(), window(connection, [rounds]) as part:
        return part.cursor.sql(sql, params=parameters or None).to_arrow_table()


@contextmanager
def _damage_in_a_sentence() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        if isinstance(error, _OUR_MISTAKES):
            raise
        reason = str(error).strip().splitlines()[0].rstrip(".")
        sentence = f"A file of these runs cannot be read ({reason}); radixflow-collect check RUN names it."
        raise RadixflowError(sentence) from error
