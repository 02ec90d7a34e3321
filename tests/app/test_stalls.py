"""A standstill is named where people look: on the timeline, on Live while it lasts, among what was found."""

import json

import pyarrow as pa
import pytest

from radixflow.app.figures.style import palette
from radixflow.app.figures.timeline.bubble_timeline import TimelineData, bubble_timeline
from radixflow.app.figures.timeline.stall_bands import stall_traces
from radixflow.app.queries import run_facts, slot_raster, stalls
from radixflow.app.queries.live import LiveRun
from radixflow.app.queries.windowed import EVERYTHING, Window
from radixflow.app.sentences.reasons import REASONS
from radixflow.app.sentences.stalls import live_stall_sentence, stall_cause_words, stall_findings
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.writing.segment_writer import SegmentWriter
from tests import builders
from tests.app.test_live import wait
from tests.app.test_pages import go, texts
from tests.app.test_palette import GROUNDS, contrast
from tests.app.test_report import figures, written
from tests.stalled_builder import add_stall, stalled_builder, stalled_run

FINDING = (
    "radix stalled 2 times, for 4.10 µs: 15 steps scheduled nothing while work waited. Request giant needs more blocks "
    "than the pool has; 6 more requests waited (full_prompt_reservation; 5 steps, 4.00 µs, first after round 2). "
    "Sessions that wait for their clients hold the rows that request b0 needs; 1 more request waited (row_capacity; "
    "10 steps, 100 ns, first before the first round)."
)


@pytest.fixture
def stalled(tmp_path):
    with open_runs([stalled_run(tmp_path)]) as connection:
        yield connection


def test_the_finding_says_how_long_and_what_held_it_up(stalled):
    assert stall_findings(stalls.summary(stalled), stalls.reasons(stalled)) == [FINDING]


def test_many_kinds_are_not_all_put_in_words(tmp_path):
    run = stalled_builder(tmp_path / "run")
    for number, reason in enumerate(("watermark", "kv_blocks", "paused")):
        at = 7000 + 100 * number
        add_stall(run, "b0", at, at + 10, round_before=2, stop_reason=reason, stop_cause=None)
    with open_runs([run.write()]) as connection:
        (said,) = stall_findings(stalls.summary(connection), stalls.reasons(connection))
    assert said.count("waited (") == 3 and said.endswith(
        "2 further kinds of stalls follow on the SQL page in stall_reasons."
    )


@pytest.mark.parametrize(
    ("reason", "cause", "head", "words"),
    [("kv_blocks", "pool_in_use", "a", "request a needs more blocks than are free"),
     ("row_capacity", None, "a", "every row is in use, and request a waits for one"),
     ("end_of_queue", "held", "a", "admission held request a and all others"),
     ("end_of_queue", "grammar", "a", "request a was passed over: its grammar was not compiled yet"),
     ("end_of_queue", "blocked", "a", "request a was blocked by its recurrent state"),
     ("end_of_queue", None, None, "running requests got no token, and nothing waited"),
     ("aligned_split_zero", None, "a", f"request a stopped the scan: {REASONS['aligned_split_zero']}")],
)  # fmt: skip
def test_every_cause_has_words(reason, cause, head, words):
    stall = {"stop_reason": reason, "stop_cause": cause, "head_request_id": head}
    assert stall_cause_words(stall) == words


def test_the_overview_names_it_and_says_that_nothing_else_is_wrong(tmp_path, open_app):
    stalled_run(tmp_path)
    page = open_app(tmp_path).run()
    assert [each.value.replace("\\", "") for each in page.warning if "stalled" in each.value] == [FINDING]
    assert page.success[0].value.startswith("Nothing else found:") and not page.exception


def test_an_overview_of_runs_without_records_of_stalls_says_so(tmp_path, open_app):
    path = builders.one_round_run(tmp_path)
    for status in (path / "writers").glob("*.json"):
        status.write_text(json.dumps(json.loads(status.read_text()) | {"records_stalls": False}))
    page = open_app(tmp_path).run()
    said = texts(page).replace("\\", "")
    assert "Whether one-round stalled is not measured: it was recorded without stalls." in said
    assert page.success[0].value.startswith("Nothing found:")


def test_the_report_names_it(tmp_path):
    text = written(tmp_path, stalled_run(tmp_path / "runs"))
    assert FINDING in text and "Nothing found" not in text
    names = [trace.get("name") for trace in figures(text)["timeline"]["data"]]
    assert palette.STALL.label in names


def drawn(connection, axis="time", **more):
    window = slot_raster.whole_window(slot_raster.extent(connection), axis)
    data = TimelineData(
        run_facts.runs(connection), slot_raster.raster(connection, EVERYTHING, slot_raster.Level("cells", 1)),
        slot_raster.round_tracks(connection, EVERYTHING, 1), axis, window.low, window.high, "",
        stalls=stalls.in_window(connection, window), **more,
    )  # fmt: skip
    return bubble_timeline(data), window


def bands(figure):
    return [trace for trace in figure.data if trace.name == palette.STALL.label]


def test_a_band_is_as_long_as_its_stall_and_as_high_as_the_raster(stalled):
    figure, window = drawn(stalled)
    assert (window.low, window.high) == pytest.approx((-0.0002, 0.005)), "what lies outside the rounds is visible"
    (band,) = bands(figure)
    sides = [(x - width / 2, x + width / 2) for x, width in zip(band.x, band.width, strict=True)]
    assert sides == [
        pytest.approx(each) for each in ((-0.0002, -0.0001), (9.1e-5, 9.3e-5), (0.001, 0.005))
    ]  # fmt: skip
    assert set(band.y) == {2} and band.base == 0
    assert list(band.customdata) == [None, "0 1 1", "0 2 2"]
    assert "request giant needs more blocks than the pool has" in band.hovertext[2]
    assert "5 steps without work in 4.00 µs" in band.hovertext[2]


def test_on_an_axis_of_rounds_a_band_stands_between_two_rounds(stalled):
    figure, _ = drawn(stalled, "round")
    (band,) = bands(figure)
    assert list(band.x) == pytest.approx([0.5, 1.5, 2.5])


def test_a_window_holds_only_its_own(stalled):
    assert stalls.in_window(stalled, Window("time", 0.0, 0.0005))["head_request_id"].to_pylist() == ["b0"]
    assert stalls.in_window(stalled, Window("round", 1.6, 9))["head_request_id"].to_pylist() == ["giant"]


def test_the_number_of_bands_is_bounded_and_the_longest_stay(tmp_path, monkeypatch):
    run = stalled_builder(tmp_path / "run")
    for number in range(500):
        add_stall(run, "giant", 10_000 + 10 * number, 10_001 + 10 * number, num_steps=1, round_before=2)
    with open_runs([run.write()]) as connection:
        found = stalls.in_window(connection, EVERYTHING)
        figure, _ = drawn(connection)
    assert found.num_rows == stalls.MAX_STALL_MARKS == len(bands(figure)[0].x)
    assert 0.004 in found["duration_ms"].to_pylist() and found["num_in_window"].to_pylist()[0] == 503


def test_a_run_with_nothing_but_a_stall_is_drawn(tmp_path):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("giant")
    add_stall(run, "giant", 5000, 9000)
    with open_runs([run.write()]) as connection:
        figure, window = drawn(connection)
    assert len(bands(figure)) == 1 and (window.low, window.high) == (0.0, 0.004)


def test_without_stalls_there_is_no_band(pair):
    assert bands(drawn(pair)[0]) == []
    assert list(stall_traces(pa.table({"run": pa.array([], pa.int64())}), [], "time")) == []


@pytest.mark.parametrize("theme", GROUNDS)
def test_the_band_has_a_colour_and_a_hatch_of_its_own(theme):
    assert contrast(palette.STALL.outline, GROUNDS[theme]) >= 3
    others = palette.SLOT_STYLES.values()
    assert palette.STALL.hatch and palette.STALL.hatch not in {style.hatch for style in others}
    assert palette.STALL.fill not in {style.fill for style in others}


STALL = {
    "start_ns": 1_000_000_000, "end_ns": 12_990_000_000, "said_ns": 13_000_000_000, "num_steps": 900,
    "round_before": 3, "num_waiting": 7, "num_running": 0, "num_rounds_in_flight": 0, "num_free_blocks": 39,
    "head_request": 1, "stop_request": 1, "stop_reason": "kv_blocks", "stop_cause": "larger_than_pool",
    "head_request_id": "x", "stop_request_id": "x",
}  # fmt: skip


def test_live_says_since_when_and_why():
    assert live_stall_sentence(STALL) == (
        "Stalled for 12.0 s: request x needs more blocks than the pool has; 6 more requests wait "
        "(900 steps without work)."
    )
    late = live_stall_sentence(STALL | {"said_ns": 16_000_000_000})
    assert late is not None and late.endswith("The engine has made no step for 3.01 s.")
    assert live_stall_sentence(None) is None


def test_live_shows_a_stall_while_it_lasts_and_no_longer(tmp_path, open_app):
    made = builders.RunBuilder(tmp_path / "runs" / "growing", "radix")
    builders.create_run(made.path, made.manifest)
    goes_on = [dict(STALL)]
    with SegmentWriter(made.path, "engine", flush_seconds=0.05, durable=False) as writer:
        writer.describe_by(lambda: {"stall": goes_on[0]})
        followed = LiveRun(str(made.path), str(tmp_path / "runs"))
        wait(lambda: followed.stall is not None)
        page = go(open_app(tmp_path / "runs"), "live")
        assert any("Stalled for 12" in each.value for each in page.warning) and not page.exception
        for other in (
            STALL | {"num_rounds_in_flight": 1},
            STALL | {"stop_cause": "held", "said_ns": 1_005_000_000},
            None,
        ):
            goes_on[0] = other
            wait(lambda: followed.stall is None)
            page.run()
            assert not [each for each in page.warning if "Stalled" in each.value]
            goes_on[0] = dict(STALL)
            wait(lambda: followed.stall is not None)
