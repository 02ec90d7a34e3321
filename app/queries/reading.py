"""Runs SELECT statements for the other modules of this folder."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.summaries import use_summaries
from radixflow.schema.reading.windows import RoundRange, window

# A relation, which DuckDB proposes instead, plans every query twice; the rows of an answer are few.
warnings.filterwarnings("ignore", message="Arrow output on a DB-API result makes an extra copy")
_OUR_MISTAKES = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)


def read(connection: duckdb.DuckDBPyConnection, sql: str, **parameters: Any) -> pa.Table:
    """Run one SELECT with named parameters on a cursor of its own, so that several pages may read at once.

    Raises:
        RadixflowError: A file is damaged behind a footer that is whole, or went away while it was read.
    """
    cursor = connection.cursor()
    try:
        with damage_in_a_sentence():
            use_summaries(connection, sql)
        return read_here(cursor, sql, **parameters)
    finally:
        cursor.close()


def read_here(cursor: duckdb.DuckDBPyConnection, sql: str, **parameters: Any) -> pa.Table:
    """Run one SELECT on this very cursor, with the variables that are set on it.

    Raises:
        RadixflowError: As :func:`read`.
    """
    with damage_in_a_sentence():
        return cursor.execute(sql, parameters or None).to_arrow_table()


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
    with damage_in_a_sentence(), window(connection, [rounds]) as part:
        return part.cursor.execute(sql, parameters or None).to_arrow_table()


@contextmanager
def damage_in_a_sentence() -> Iterator[None]:
    """Context that turns DuckDB's error about a damaged file into a sentence naming the command that finds the file.

    Raises:
        RadixflowError: Instead of DuckDB's error.
    """
    try:
        yield
    except duckdb.Error as error:
        if isinstance(error, _OUR_MISTAKES):
            raise
        reason = str(error).strip().splitlines()[0].rstrip(".")
        sentence = f"A file of these runs cannot be read ({reason}); radixflow-collect check RUN names it."
        raise RadixflowError(sentence) from error
