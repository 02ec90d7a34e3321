"""The table behind a figure, and tables as files."""

import io

import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from radixflow.app.figures.style.figure_table import figure_table
from radixflow.app.table_files import as_csv, as_parquet
from tests import builders
from tests.app.test_figures import every_figure
from tests.app.test_pages import go as open_page


def test_the_table_of_a_figure_holds_every_mark_with_its_axes():
    figure = go.Figure(
        go.Bar(name="<b>Used</b>", x=[1, 2], y=[3, None], width=0.5, hovertext=["3 rows<br>a &lt;b&gt;"])
    )
    figure.add_scatter(name="Limit", x=[1], y=[4])
    figure.update_xaxes(title_text="Round (number)")
    figure.update_yaxes(title_text="Rows a round (rows)")
    named = {"x_axis": "Round (number)", "y_axis": "Rows a round (rows)"}
    assert figure_table(figure).to_pylist() == [
        {"series": "Used", **named, "x": 1.0, "y": 3.0, "width": 0.5, "text": "3 rows; a <b>"},
        {"series": "Limit", **named, "x": 1.0, "y": 4.0, "width": None, "text": None},
    ]
    assert figure_table(go.Figure()).num_rows == 0


def test_every_figure_has_its_table(pair):
    for name, figure in every_figure(pair).items():
        table = figure_table(figure)
        assert table.num_rows > 0 and {"series", "x", "y"} <= set(table.column_names), name


def test_a_table_comes_back_from_both_files():
    table = pa.table({"run": [0, 1], "name": ["a", None], "share": [0.5, None], "consumers": [["b", "c"], None]})
    assert pyarrow.parquet.read_table(io.BytesIO(as_parquet(table))).equals(table)
    assert as_csv(table).decode() == '"run","name","share","consumers"\n0,"a",0.5,"b, c"\n1,,,\n'


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://a")'])
def test_no_cell_is_a_formula(formula):
    """The control arm is a text that begins with a letter: it stays as it is."""
    read = pyarrow.csv.read_csv(io.BytesIO(as_csv(pa.table({"name": [formula, "a=1"], "number": [-1, 2]}))))
    assert read["name"].to_pylist() == ["'" + formula, "a=1"] and read["number"].to_pylist() == [-1, 2]


def test_every_figure_and_table_of_a_page_can_be_saved(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_page(open_app(tmp_path), "round_fullness")
    saved = [button.label for button in app.get("download_button")]
    shown = len(app.get("plotly_chart")) + len(app.dataframe)
    assert (len(app.get("plotly_chart")), len(app.dataframe)) == (5, 3)
    assert saved == ["Table as CSV", "Table as Parquet"] * shown
