"""A manifest says what the machine is, and not where its files are."""

import json
import time

from radixflow.collector.engines.machine_facts import clock_anchor, hardware, versions, without_paths


def test_paths_are_cut_to_their_last_part() -> None:
    words = ["radixflow-collect", "--model", "/home/someone/models/mine", "--output=/tmp/runs", "-o", "~/runs", "a/b",
             "--rate", "0.5", "--json-arg={\"a\": 1}", "../x/y", "."]  # fmt: skip
    assert without_paths(words) == [
        "radixflow-collect", "--model", "mine", "--output=runs", "-o", "runs", "a/b", "--rate", "0.5",
        "--json-arg={\"a\": 1}", "y", ".",
    ]  # fmt: skip


def test_facts_are_json_and_complete() -> None:
    facts = hardware("cpu")
    assert json.loads(json.dumps(facts)) == facts
    assert facts["num_cores"] >= 1  # type: ignore[operator]
    assert "python" in versions()


def test_an_anchor_is_now_on_both_clocks() -> None:
    anchor = clock_anchor("here")
    assert abs(anchor["monotonic_ns"] - time.monotonic_ns()) < 10e9  # type: ignore[operator]
    assert abs(anchor["wall_ns"] - time.time_ns()) < 10e9  # type: ignore[operator]
