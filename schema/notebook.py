"""Runs in a notebook: every table and view as Arrow, pandas or polars, with units.

>>> from radixflow.schema.notebook import open_run
>>> run = open_run("runs/demo/stream/radix")
>>> run.pandas("round_occupancy")["rows_used"].mean()
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from radixflow.schema.errors import RadixflowError
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.reading.summaries import use_summaries
from radixflow.schema.reading.view_descriptions import describe
from radixflow.schema.tables import ALL_TABLES


class OpenedRuns:
    """Opened runs to ask questions of; made by :func:`open_run`.

    Attributes:
        connection: The DuckDB connection, for SQL of your own.
    """

    def __init__(self, paths: list[Path]) -> None:
        self.connection = open_runs(paths)
        self._about: dict[str, dict[str, tuple[str, str]]] = {}

    def __enter__(self) -> "OpenedRuns":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    @property
    def names(self) -> list[str]:
        """Names of every table and view."""
        return sorted(self._columns())

    def arrow(self, name: str, where: str = "true") -> pa.Table:
        """Return a table or view; each field carries ``unit`` and ``description`` in its metadata.

        Args:
            name: A table or view.
            where: SQL condition on its columns, such as ``run = 0 AND round BETWEEN 1 AND 100``.

        Raises:
            RadixflowError: There is no table or view of this name.
        """
        columns = self._columns()
        if name not in columns:
            raise RadixflowError(f"There is no table or view {name}; there are {', '.join(sorted(columns))}.")
        return self._with_units(self.sql(f'SELECT * FROM "{name}" WHERE {where}'), columns[name])

    def pandas(self, name: str, where: str = "true") -> Any:
        """Return a table or view as a pandas data frame, the units of its columns in ``attrs["units"]``."""
        frame = self.arrow(name, where).to_pandas()
        frame.attrs["units"] = self.units(name)
        return frame

    def polars(self, name: str, where: str = "true") -> Any:
        """Return a table or view as a polars data frame; its units are asked for by :meth:`units`.

        Raises:
            ImportError: polars is not installed.
        """
        return import_module("polars").from_arrow(self.arrow(name, where))  # not one of our requirements

    def units(self, name: str) -> dict[str, str]:
        """Return the unit of each column of a table or view; ``""`` for names and numbers of things."""
        return {column: unit for column, (unit, _) in self._columns()[name].items()}

    def sql(self, query: str, parameters: Mapping[str, Any] | None = None) -> pa.Table:
        """Run an SQL query over the tables and views and return its rows; columns of a query carry no units."""
        use_summaries(self.connection, query)
        return self.connection.cursor().sql(query, params=dict(parameters) if parameters else None).to_arrow_table()

    def _columns(self) -> dict[str, dict[str, tuple[str, str]]]:
        if not self._about:
            self._about = {name: _of_table(schema) for name, schema in ALL_TABLES.items()}
            self._about |= {view.name: {c.name: (c.unit, c.text) for c in view.columns} for view in describe()}
        return self._about

    def _with_units(self, table: pa.Table, about: dict[str, tuple[str, str]]) -> pa.Table:
        fields = []
        for field in table.schema:
            unit, text = about[field.name]
            fields.append(field.with_metadata({"unit": unit, "description": text}))
        return table.cast(pa.schema(fields))


def open_run(path: Path | str, *more: Path | str) -> OpenedRuns:
    """Open a run, or several to compare, for questions in a notebook.

    Args:
        path: Run directory.
        more: Further run directories; the column ``run`` counts them from 0 in this order.

    Raises:
        RadixflowError: A path is no run, or none of them can be read.
    """
    return OpenedRuns([Path(each) for each in (path, *more)])


def _of_table(schema: pa.Schema) -> dict[str, tuple[str, str]]:
    about = {"run": ("", "Number of the run among the opened ones.")}
    for field in schema:
        metadata = field.metadata or {}
        about[field.name] = (metadata[b"unit"].decode(), metadata[b"description"].decode())
    return about
