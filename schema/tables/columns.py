"""How a column is declared: one Arrow field with its unit, its meaning and what it joins to."""

import pyarrow as pa

NAME = pa.dictionary(pa.int8(), pa.string())
"""Type of a column that holds one of a few fixed words."""


def column(
    name: str, kind: pa.DataType, unit: str, description: str, joins: str | None = None, nullable: bool = False
) -> pa.Field:
    """Declare one column of a table.

    Args:
        name: Column name; ``*_ns`` for integer nanoseconds, ``num_*`` for counts.
        kind: Arrow type.
        unit: Unit of a value (``ns``, ``tokens``, ``rows``, ...); ``""`` for names and identifiers.
        description: What a value means, in one sentence.
        joins: ``table.column`` that this column refers to.
        nullable: Whether the value may be undefined; an undefined value is NULL, never 0.
    """
    metadata = {"unit": unit, "description": description}
    if joins:
        metadata["joins"] = joins
    return pa.field(name, kind, nullable=nullable, metadata=metadata)


def table(name: str, description: str, columns: list[pa.Field], sorted_by: tuple[str, ...]) -> pa.Schema:
    """Declare one table.

    Args:
        name: Name of the table.
        description: What one row of it is.
        columns: Its columns.
        sorted_by: Columns by which rows of a merged file are sorted: a query for a range of them reads a part of it.
    """
    metadata = {"table": name, "description": description, "sorted_by": " ".join(sorted_by)}
    return pa.schema(columns, metadata=metadata)


def sort_order(schema: pa.Schema) -> list[tuple[str, str]]:
    """Return the columns by which a merged file is sorted, in the form that Arrow takes; empty for undeclared schemas."""
    names = (schema.metadata or {}).get(b"sorted_by", b"").decode().split()
    return [(name, "ascending") for name in names]
