"""The real engine, recorded while something goes wrong: it answers as vLLM's own scheduler class does, to the last bit.

A decode-heavy stream and one of shared documents, in a block pool so small that requests preempt each other.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.collector.odd_runs.mounts import read_only, skip_without_mounts, small_disk
from tests.collector.outputs.process import ENVIRONMENT, ROOT
from tests.schema.views.test_identities import broken_identities

pytest.importorskip("vllm")
pytestmark = [pytest.mark.engine, pytest.mark.long]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Run directories of the situations that need one of their own, as far as this machine allows."""
    small, closed = tmp_path_factory.mktemp("small"), tmp_path_factory.mktemp("closed") / "read-only-folder"
    create_run(closed, Manifest("odd", "s", "radix"))
    with small_disk(small, 1) as has_small, read_only(closed) as has_closed:
        found = {"full disk": str(small / "full-disk")} if has_small else {}
        yield found | ({"read-only folder": str(closed)} if has_closed else {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def findings(folder: Path, places: dict[str, str]) -> dict[str, dict[str, Any]]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "HF_", "OMP_"))}
    command = [sys.executable, "-m", "tests.collector.odd_runs.served", str(folder), json.dumps(places)]
    ended = subprocess.run(command, env=kept | ENVIRONMENT, cwd=ROOT, text=True, capture_output=True)
    assert ended.returncode == 0, ended.stderr[-4000:]
    return {each["situation"]: each for each in json.loads((folder / "findings.json").read_text())}


def found(findings: dict[str, dict[str, Any]], situation: str) -> dict[str, Any]:
    skip_without_mounts(situation in findings, f"what makes a {situation}")
    return findings[situation]


ODD = {
    "failing probe": "RuntimeError: sabotage",
    "file in the way": "engine stopped writing to file-in-the-way: File exists",
    "read-only folder": "engine stopped writing to read-only-folder: Read-only file system",
    "full disk": "engine stopped writing to full-disk: No space left on device",
    "dying writer": "engine stopped writing to dying-writer: SystemExit",
}
"""What each situation makes the recording say."""


@pytest.mark.parametrize("situation", ["untouched", "slow disk", *ODD])
def test_the_answers_are_those_of_an_unrecorded_engine(findings: dict[str, dict[str, Any]], situation: str) -> None:
    finding = found(findings, situation)
    assert finding["num_tokens"] > 1000
    assert finding["differing"] == []
    assert finding["longest_append_ms"] < 1000  # a segment of the slow disk takes 1,500


@pytest.mark.parametrize("situation", ODD)
def test_what_goes_wrong_is_said_once_and_the_run_is_incomplete(
    findings: dict[str, dict[str, Any]], situation: str
) -> None:
    finding = found(findings, situation)
    (fault,) = finding["faults"]
    assert ODD[situation] in fault
    assert len(finding["said"]) == 1 and ODD[situation] in finding["said"][0]
    if situation == "read-only folder":
        assert finding["closing"].endswith("manifest.json: Read-only file system.")
        return  # nobody could write that it is incomplete; it is by its silence
    assert finding["closing"] is None
    assert (finding["state"], finding["manifest_state"]) == ("incomplete", "incomplete")
    assert finding["situation"] == "failing probe" or finding["drops"] > 0


def test_on_a_full_disk_the_run_says_so_at_once(findings: dict[str, dict[str, Any]], places: dict[str, str]) -> None:
    found(findings, "full disk")
    said = [str(fault) for fault in check_run(places["full disk"])]
    assert "manifest.json: The recording did not come to its end, the run is incomplete; not closed: engine." in said
    assert any("No space left on device" in fault for fault in said)
    assert any(fault.endswith("were dropped.") for fault in said)


def test_a_slow_disk_costs_rows_and_they_are_counted(findings: dict[str, dict[str, Any]], folder: Path) -> None:
    finding = findings["slow disk"]
    assert finding["drops"] > 0
    assert finding["said"] == [f"radixflow: {fault}" for fault in finding["faults"]] and len(finding["said"]) == 1
    assert "drops rows, and counts them, while 40 rows wait" in finding["said"][0]
    said = [str(fault) for fault in check_run(folder / "slow-disk")]
    assert any(fault.startswith("writers/engine.json: ") and fault.endswith("were dropped.") for fault in said)


def test_the_streams_are_what_they_are_meant_to_be(findings: dict[str, dict[str, Any]], folder: Path) -> None:
    """Decode-heavy, with preemptions, and recorded without a fault."""
    assert findings["untouched"]["state"] == "complete"
    assert check_run(folder / "untouched") == []
    with open_runs([folder / "untouched"]) as connection:
        ((preemptions, repeated),) = connection.execute(
            "SELECT sum(num_preemptions), sum(num_repeated_tokens) FROM requests"
        ).fetchall()
        ((share,),) = connection.execute("""
            SELECT avg((first_token >= num_prompt_tokens)::INTEGER) FROM rows JOIN requests USING (run, request)
            WHERE request_id LIKE 'd%'""").fetchall()
        assert broken_identities(connection) == {}
    print(
        f"{preemptions} preemptions repeat {repeated} prompt tokens; {share:.0%} of the rows of one stream are decodes"
    )
    assert preemptions > 0 and repeated > 0
    assert share > 0.8


def test_aborts_and_resets_of_the_engine_are_recorded(findings: dict[str, dict[str, Any]], folder: Path) -> None:
    assert findings["untouched"]["differing"] == []
    with open_runs([folder / "untouched"]) as connection:
        aborted = connection.execute("SELECT request_id FROM requests WHERE outcome = 'aborted' ORDER BY 1").fetchall()
        # vLLM adds a random end to each name in this process
        assert [name.partition("-disturbed")[0] for (name,) in aborted] == ["d01", "d11"]
        resets = connection.execute("SELECT count(*) FROM events WHERE event = 'prefix_cache_reset'").fetchall()
        assert resets == [(4,)]  # before each of three streams, and within the last
        ((preempted,),) = connection.execute(
            "SELECT count(*) FROM events WHERE event = 'preempted' AND detail = 'prefix_cache_reset'"
        ).fetchall()
        assert preempted > 0
