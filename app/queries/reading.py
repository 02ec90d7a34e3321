"""One way to run a query."""

from typing import Any

import duckdb
import pyarrow as pa


def read(connection: duckdb.DuckDBPyConnection, sql: str, **parameters: Any) -> pa.Table:
    """Run one SELECT with named parameters on a cursor of its own, so that several pages may read at once."""
    cursor = connection.cursor()
    try:
        return cursor.sql(sql, params=parameters or None).to_arrow_table()
    finally:
        cursor.close()
