"""Expected tables in line: a row a line, columns apart by spaces, ``-`` for NULL, milliseconds shown as nanoseconds."""

import pytest

from radixflow.schema.reading.connection import open_runs
from tests import builders


@pytest.fixture
def pair(tmp_path):
    """Both arms of the figure-2 stream, opened: run 0 is prefix-stop, run 1 state-ready."""
    connection = open_runs(builders.tiny_pair(tmp_path))
    yield connection
    connection.close()


@pytest.fixture
def expect():
    """Compare what a query returns with an expected table, its first line naming the columns."""

    def compare(connection, source, expected):
        header, *lines = [line.split() for line in expected.strip().splitlines()]
        found = connection.execute(f"SELECT {', '.join(header)} FROM {source}").fetchall()
        assert [[show(*cell) for cell in zip(header, row, strict=True)] for row in found] == lines

    return compare


def show(name, value):
    if value is None:
        return "-"
    if "_ms" in name:
        return f"{value * 1e6:.6g}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value).replace(" ", "_")
