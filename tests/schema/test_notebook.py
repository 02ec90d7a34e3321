"""Runs in a notebook: tables with units, and the example notebook run cell by cell."""

import json
import os
from pathlib import Path

import pytest

from radixflow.schema.errors import RadixflowError
from radixflow.schema.notebook import open_run
from tests import builders

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "notebooks"


@pytest.fixture
def run(tmp_path):
    with open_run(*builders.tiny_pair(tmp_path)) as opened:
        yield opened


def test_every_table_and_view_is_there_with_units(run):
    for name in run.names:
        table = run.arrow(name)
        assert {field.name: field.metadata[b"unit"].decode() for field in table.schema} == run.units(name)
        assert all(field.metadata[b"description"] for field in table.schema)
    assert {"rounds", "visits", "round_occupancy", "cost_shift"} <= set(run.names)
    assert run.units("round_occupancy")["start_ms"] == "ms" and run.units("rounds")["tokens_scheduled"] == "tokens"


def test_a_condition_chooses_rows(run):
    assert run.arrow("rounds", "run = 1").num_rows == 4
    assert run.sql("SELECT count(*) AS n FROM rounds WHERE run = $run", {"run": 0}).to_pylist() == [{"n": 6}]


def test_pandas_carries_values_and_units(run):
    pytest.importorskip("pandas")
    frame = run.pandas("run_summary")
    assert frame["num_rounds"].tolist() == [6, 4] and frame.attrs["units"]["mean_latency_ms"] == "ms"


def test_polars_carries_values(run):
    pytest.importorskip("polars")
    assert run.polars("run_summary")["num_rounds"].to_list() == [6, 4]


def test_an_unknown_name_is_refused_with_the_known_ones(run):
    with pytest.raises(RadixflowError, match="no table or view nothing; there are arm_summary, "):
        run.arrow("nothing")


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_example_notebook_runs(path, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("plotly")
    monkeypatch.setenv("RADIXFLOW_RUNS", os.pathsep.join(str(each) for each in builders.tiny_pair(tmp_path)))
    notebook = json.loads(path.read_text())
    names: dict[str, object] = {}
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        exec(compile(cell, path.name, "exec"), names)
    assert len(cells) >= 5 and names["shift"]["net_saving_ms"].round(9).tolist() == [0.000165, 0.00012]
    assert len(names["figure"].data) == 2
    assert not any(cell.get("outputs") for cell in notebook["cells"])  # nothing of anybody's machine
