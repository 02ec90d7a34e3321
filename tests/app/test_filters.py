"""Which runs can be chosen, by what an address may ask for; and what an address can never open."""

import os
from pathlib import Path

import pytest

from radixflow.app.queries.run_catalog import list_runs
from tests import builders


def streams_of(root, *facts):
    """Write one run a stream: (stream, regime, order)."""
    for stream, regime, order in facts:
        workload = {"name": "made", "digest": "ab" * 32, "regime": regime, "input_order": order}
        run = builders.RunBuilder(root / stream / "radix", "radix", stream=stream, workload=workload)
        run.request("a0")
        run.round(("a0", 48))
        run.write()


def test_an_address_narrows_the_streams(tmp_path, open_app):
    streams_of(tmp_path, ("one", "mixed", "given"), ("two", "mixed", "shuffled"), ("three", "long", "shuffled"))
    for regime, order, streams in (
        ("mixed", "shuffled", ["tiny / two"]),
        ("mixed", "any", ["tiny / one", "tiny / two"]),
        ("long", "given", ["tiny / one", "tiny / three", "tiny / two"]),
    ):
        app = open_app(tmp_path)
        app.query_params["regime"], app.query_params["order"] = regime, order
        app.run()
        assert app.selectbox(key="stream").options == streams and not app.exception
    assert any("No stream has all of these" in warning.value for warning in app.warning)


def test_without_a_difference_there_is_no_filter(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path).run()
    assert [box.key for box in app.selectbox] == ["stream"]


HOSTILE = ("../../elsewhere", "/etc/passwd", "\x00", "'; DROP VIEW rounds; --", "9" * 5000, "1e999")
MORE_HOSTILE = (
    "..%2f..%2felsewhere", "tiny / figure-2/../../../elsewhere", "file:" + "//" + "/etc", "%s%n" * 40,
    "<script>alert(1)</script>", "radix\n", "nan", "-1e300",
)  # fmt: skip
"""For ``make test-long``: each one opens four pages a dozen times."""


@pytest.mark.parametrize("value", [*HOSTILE, *(pytest.param(each, marks=pytest.mark.long) for each in MORE_HOSTILE)])
def test_no_parameter_of_an_address_opens_anything_else(tmp_path, open_app, value):
    """Every parameter that a page reads, filled with what names a place, a command or nothing."""
    builders.tiny_pair(tmp_path / "runs")
    builders.prefix_stop_run(tmp_path / "elsewhere" / "secret")
    app = open_app(tmp_path / "runs")
    for name in (
        "stream",
        "arms",
        "arm",
        "dataset",
        "regime",
        "order",
        "round",
        "request",
        "from",
        "to",
        "axis",
        "pair",
    ):
        app.query_params[name] = value
    app.run()
    assert app.multiselect(key="arms").options == ["radix", "radixflow-immediate"]
    for page in ("timeline", "round", "request"):
        app.switch_page(f"pages/{page}.py").run()
        assert not app.exception, page


@pytest.mark.parametrize("part", ["run", "table", "segment", "manifest"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path, part):
    """The control arm is a link within the folder: that one is followed."""
    secret = builders.prefix_stop_run(tmp_path / "elsewhere" / "secret")
    own = builders.prefix_stop_run(tmp_path / "runs" / "own")
    if part == "run":
        os.symlink(secret, tmp_path / "runs" / "linked")
        assert [Path(choice.path).name for choice in list_runs(str(tmp_path / "runs")).choices] == ["own"]
        return
    (segment,) = (secret / "rows").glob("*.parquet")
    target, link = {
        "table": (secret / "spans", own / "more"),
        "segment": (segment, own / "rows" / "engine-000009.parquet"),
        "manifest": (secret / "manifest.json", own / "manifest.json"),
    }[part]
    link.unlink(missing_ok=True)
    os.symlink(target, link)
    found = list_runs(str(tmp_path / "runs"))
    assert found.choices == [] and "is a link to a place outside" in found.faults[0]
    assert len(list_runs(str(tmp_path)).choices) == 2
