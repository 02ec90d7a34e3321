"""What makes a step of a zoom fast must not change what is seen: rounds in memory, tables cut, figures made at once."""

import json

import plotly.graph_objects as go
import pytest
from plotly.io.json import to_json_plotly

from radixflow.app.figures.timeline.bubble_timeline import TimelineData, bubble_timeline, timeline_parts
from radixflow.app.queries import dependencies, rounds_at_hand, run_facts, slot_raster, spans
from radixflow.app.queries.windowed import EVERYTHING, Window, cut, exactly, holds
from radixflow.schema.reading.connection import open_runs
from tests import builders
from tests.page_list import ROOT

WINDOWS = (
    EVERYTHING, Window("time", 100e-6, 185e-6), Window("time", 95e-6, 99e-6), Window("time", -1.0, 0.0),
    Window("time", 5.0, 9.0), Window("round", 2, 4), Window("round", 1.5, 1.6), Window("round", 0.5, 99.5),
)  # fmt: skip


@pytest.fixture(params=["tiny", "sample"])
def connection(request, tmp_path):
    paths = builders.tiny_pair(tmp_path)
    if request.param == "sample":
        paths = sorted(each.parent for each in (ROOT / "sample_runs").rglob("manifest.json"))
    opened = open_runs(paths)
    yield opened
    opened.close()


def windows_of(connection):
    """The windows above, in units of the tiny run's rounds of 100 ns, as far as the rounds of these runs last."""
    whole = slot_raster.whole_window(slot_raster.extent(connection), "time")
    scale = max(1.0, whole.high / 600e-6)
    return [each if each.axis == "round" else Window("time", each.low * scale, each.high * scale) for each in WINDOWS]


def test_rounds_at_hand_are_those_of_the_view(connection):
    assert rounds_at_hand.hold_rounds(connection)
    columns = ", ".join(
        name for (name,) in connection.execute("SELECT column_name FROM (DESCRIBE rounds_at_hand)").fetchall()
    )
    assert columns.count(",") == 16
    queries = [f"SELECT {columns} FROM {name} ORDER BY run, round" for name in ("rounds_at_hand", "round_occupancy")]
    at_hand, in_view = (connection.execute(query).fetchall() for query in queries)
    assert at_hand == in_view != []


def answers(connection):
    """All that a timeline asks of the rounds, window by window."""
    found = []
    for window in windows_of(connection):
        found.append(slot_raster.window_totals(connection, window).to_pylist())
        for by_cause in (True, False):
            found.append(slot_raster.slot_sums(connection, window, 2, by_cause).to_pylist())
        found.append(slot_raster.round_tracks(connection, window, 2).to_pylist())
        found.append(slot_raster.slot_cells(connection, window).to_pylist())
    return found


def test_runs_too_long_for_the_memory_give_the_same_answers(connection, monkeypatch):
    expected = answers(connection)
    connection.execute("DROP TABLE rounds_at_hand")
    monkeypatch.setattr(rounds_at_hand, "MOST_ROUNDS", 0)
    assert not rounds_at_hand.hold_rounds(connection)
    assert answers(connection) == expected
    assert any(rows for rows in expected) and not all(rows for rows in expected)


def test_sums_by_cause_are_those_of_the_single_cells(connection):
    """By another way than the cells: of the view of visits and the ledger of each round."""
    for window in windows_of(connection):
        cells = f"""
            SELECT run, round AS first_round, slot_class, cause, count(*)::DOUBLE AS mean_rows FROM slot_cells
            WHERE slot_class <> 'no_work' AND {exactly(window)} GROUP BY ALL ORDER BY ALL"""
        expected = connection.execute(cells).fetchall()
        sums = slot_raster.slot_sums(connection, window, 1).to_pylist()
        names = ("run", "first_round", "slot_class", "cause", "mean_rows")
        found = sorted((tuple(row[name] for name in names) for row in sums), key=str)
        assert found == [pytest.approx(row) for row in sorted(expected, key=str)]


def test_a_table_that_is_cut_is_what_the_narrower_window_reads(connection):
    cells = {axis: slot_raster.slot_cells(connection, whole(connection, axis)) for axis in ("time", "round")}
    intervals = spans.spans(connection, whole(connection, "time"), max_marks=10**9)
    assert spans.are_single(intervals) and slot_raster.are_cells(cells["time"])
    num_kept = set()
    for window in windows_of(connection):
        if not holds(whole(connection, window.axis), window):
            continue
        assert cut(cells[window.axis], window).equals(slot_raster.slot_cells(connection, window))
        num_kept.add(cut(cells[window.axis], window).num_rows)
        if window.axis == "time":
            narrower = spans.spans(connection, window, max_marks=10**9)
            assert cut(intervals, window).to_pylist() == narrower.to_pylist()
    assert len(num_kept) > 2


def whole(connection, axis):
    return Window(axis, -1e9, 1e9)


def test_only_a_wider_window_of_the_same_axis_holds_another():
    assert holds(Window("time", 0, 10), Window("time", 0, 10)) and holds(Window("time", 0, 10), Window("time", 2, 3))
    assert not holds(Window("time", 0, 10), Window("time", 2, 11))
    assert not holds(Window("time", 0, 10), Window("time", -1, 3))
    assert not holds(Window("time", 0, 10), Window("round", 2, 3))


def test_thinned_tables_are_not_cut(connection):
    assert not slot_raster.are_cells(slot_raster.slot_sums(connection, EVERYTHING, 2))
    assert not spans.are_single(spans.spans(connection, EVERYTHING, max_marks=3))


@pytest.mark.parametrize("is_coarse", [False, True])
def test_the_parts_of_a_timeline_are_valid_and_are_its_figure(connection, is_coarse):
    level = slot_raster.Level("rounds", 2) if is_coarse else slot_raster.Level("cells", 1)
    data = TimelineData(
        run_facts.runs(connection), slot_raster.raster(connection, EVERYTHING, level),
        slot_raster.round_tracks(connection, EVERYTHING, 1), "time", 0.0, 1.0, "Level",
        spans.spans(connection, EVERYTHING),
        dependencies.arrows(connection, dependencies.Selected(0, 1)), 0, 1,
    )  # fmt: skip
    parts = timeline_parts(data)
    assert json.loads(to_json_plotly(parts)) == json.loads(bubble_timeline(data).to_json())
    for trace in parts["data"]:
        trace["widht"] = 1
        break
    with pytest.raises(ValueError, match="widht"):  # Plotly would have said so
        go.Figure(parts)


def test_a_zoom_into_cells_reads_them_once(tmp_path, open_app, monkeypatch):
    builders.tiny_pair(tmp_path)
    asked = []
    read_cells = slot_raster.slot_cells
    monkeypatch.setattr(slot_raster, "slot_cells", lambda *given: asked.append(given) or read_cells(*given))
    app = open_app(tmp_path)
    app.run()
    app.switch_page("pages/timeline.py").run()
    app.segmented_control(key="axis").set_value("round").run()
    asked.clear()
    app.number_input(key="from").set_value(1.9)
    app.number_input(key="to").set_value(2.1).run()
    assert not app.exception and not asked  # cut, not read
    app.number_input(key="from").set_value(-5.0).run()
    assert not app.exception and len(asked) == 1
