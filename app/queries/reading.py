"""One way to run a query."""

from typing import Any

import duckdb
import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.summaries import use_summaries

_OUR_MISTAKES = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)


def read(connection: duckdb.DuckDBPyConnection, sql: str, **parameters: Any) -> pa.Table:
    """Run one SELECT with named parameters on a cursor of its own, so that several pages may read at once.

    Raises:
        RadixflowError: A file is damaged behind a footer that is whole, or went away while it was read.
    """
    cursor = connection.cursor()
    try:
        use_summaries(connection, sql)
        return cursor.sql(sql, params=parameters or None).to_arrow_table()
    except duckdb.Error as error:
        if isinstance(error, _OUR_MISTAKES):
            raise
        reason = str(error).strip().splitlines()[0].rstrip(".")
        sentence = f"A file of these runs cannot be read ({reason}); radixflow-collect check RUN names it."
        raise RadixflowError(sentence) from error
    finally:
        cursor.close()
