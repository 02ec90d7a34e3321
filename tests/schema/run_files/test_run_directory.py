"""Run directories: making, replacing, finding, and what state a run is in."""

import json
import os
import time

import pytest

from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.manifest import Manifest, write_manifest
from radixflow.schema.run_files.run_directory import STALE_SECONDS, RunDirectory, create_run, find_runs


def manifest(**facts):
    return Manifest(experiment="try", stream="mixed", policy="radix", **facts)


def write_writer(run, name, closed, age=0.0):
    (run.path / "writers").mkdir(exist_ok=True)
    path = run.path / "writers" / f"{name}.json"
    path.write_text(json.dumps({"writer": name, "closed": closed}))
    for each in (path, run.path / "manifest.json"):
        os.utime(each, (time.time() - age, time.time() - age))


def test_a_run_is_not_replaced_without_force(tmp_path):
    create_run(tmp_path / "run", manifest(state="complete"))
    (tmp_path / "run" / "rounds").mkdir()
    with pytest.raises(RadixflowError, match="--force") as caught:
        create_run(tmp_path / "run", manifest())
    assert caught.value.exit_code == ExitCode.OUTPUT
    create_run(tmp_path / "run", manifest(), force=True)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [".reserved", "manifest.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_force_leaves_a_run_alone_that_is_being_recorded(tmp_path):
    run = create_run(tmp_path / "run", manifest())
    write_writer(run, "engine", closed=False)
    with pytest.raises(RadixflowError, match="is being recorded") as caught:
        create_run(tmp_path / "run", manifest(), force=True)
    assert caught.value.exit_code == ExitCode.OUTPUT
    assert list(run.writers()) == ["engine"]
    write_writer(run, "engine", closed=False, age=STALE_SECONDS + 1)
    create_run(tmp_path / "run", manifest(), force=True)
    assert run.writers() == {}


def test_force_never_removes_a_folder_that_is_no_run(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RadixflowError, match="is not a run"):
        create_run(tmp_path, manifest(), force=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_an_empty_folder_is_taken(tmp_path):
    assert create_run(tmp_path, manifest()).manifest.policy == "radix"


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RadixflowError, match="a file is in the way") as caught:
        create_run(tmp_path / "file" / "run", manifest())
    assert caught.value.exit_code == ExitCode.OUTPUT
    with pytest.raises(RadixflowError, match="a file is in the way"):
        create_run(tmp_path / "file", manifest())


@pytest.mark.parametrize(
    ("said", "closed", "age", "state"),
    [
        ("complete", True, 100.0, "complete"),
        ("complete", False, 0.0, "incomplete"),
        ("recording", False, 0.0, "recording"),
        ("recording", False, STALE_SECONDS + 1, "incomplete"),
        ("incomplete", True, 0.0, "incomplete"),
    ],
)
def test_the_state_follows_manifest_and_writers(tmp_path, said, closed, age, state):
    run = create_run(tmp_path / "run", manifest(state=said))
    write_writer(run, "client", closed=True, age=age)
    write_writer(run, "engine", closed=closed, age=age)
    assert run.state == state


def test_a_writer_that_cannot_be_read_is_a_fault_not_an_error(tmp_path):
    run = create_run(tmp_path / "run", manifest(state="complete"))
    write_writer(run, "engine", closed=True)
    (run.path / "writers" / "client.json").write_text("{")
    assert "client.json cannot be read" in run.writers()["client"]["faults"][0]
    assert run.state == "incomplete"


@pytest.mark.parametrize(
    "said",
    [{"closed": "no"}, {"drops": []}, {"drops": {"rows": "x"}}, {"faults": "one"}, {"faults": [[]]},
     {"rows_written": {"rows": 1.5}}, {"policy_effective": []}, {"block_size": 10**30}],
)  # fmt: skip
def test_a_writer_that_says_what_it_cannot_is_a_fault_not_an_error(tmp_path, said):
    run = create_run(tmp_path / "run", manifest(state="complete"))
    (run.path / "writers").mkdir()
    (run.path / "writers" / "client.json").write_text(json.dumps({"writer": "client", "closed": True} | said))
    (key,) = said
    assert run.writers()["client"]["faults"][0].startswith(f"writers/client.json: {key!r} is not ")
    assert run.state == "incomplete"


def test_segments_are_complete_files_only(tmp_path):
    run = create_run(tmp_path / "run", manifest())
    folder = run.path / "rounds"
    folder.mkdir()
    for name in ("engine-000001.parquet", "engine-000000.parquet", ".tmp-engine-000002.parquet", "notes.txt"):
        (folder / name).write_text("")
    assert [path.name for path in run.segments("rounds")] == ["engine-000000.parquet", "engine-000001.parquet"]
    assert [path.name for path in run.unfinished_files()] == [".tmp-engine-000002.parquet"]
    assert run.segments("rows") == []


def test_runs_are_found_at_any_depth_to_four(tmp_path):
    for name in ("b/s/radix", "b/s/flex", "a", "one/two/three/four", "one/two/three/x/five"):
        create_run(tmp_path / name, manifest())
    (tmp_path / "b" / "other").mkdir()
    names = [str(run.path.relative_to(tmp_path)) for run in find_runs(tmp_path)]
    assert names == ["a", "b/s/flex", "b/s/radix", "one/two/three/four"]
    assert [run.path for run in find_runs(tmp_path / "a")] == [tmp_path / "a"]
    with pytest.raises(RadixflowError, match="There is no folder"):
        find_runs(tmp_path / "nowhere")


def test_a_run_of_a_future_version_is_found_and_refused_when_read(tmp_path):
    create_run(tmp_path / "run", manifest())
    write_manifest(tmp_path / "run", manifest(format_version=9))
    (run,) = find_runs(tmp_path)
    with pytest.raises(RadixflowError, match="version 9"):
        _ = RunDirectory(run.path).manifest
