"""Repeats of a stream are told apart: in the manifest, in the folder, and by the views."""

from pathlib import Path

from radixflow.collector.cli import record
from radixflow.collector.cli.record_options import parse_record_options
from radixflow.collector.models.model_resolution import resolve_model
from radixflow.collector.workloads.catalog import make_stream
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import Manifest, write_manifest


def planned(*words: str) -> tuple[Path, Manifest]:
    """Where the command line would record, and what it would say of the run."""
    options, _ = parse_record_options(["--model", "tiny-hybrid", "--policy", "radix", *words])
    model, stream = resolve_model(options.model), make_stream(options)
    (path,) = record._run_paths(options, model, stream)
    return path, record._manifest(options, "radix", model, stream, 0, {})


def test_repeats_lie_side_by_side_and_are_the_same_stream(tmp_path: Path) -> None:
    words = ("--stream", "shared", "-o", str(tmp_path))
    found = [planned(*words, "--repeat", str(number)) for number in (1, 2)]
    assert [path.parent.name for path, _ in found] == ["shared-repeat1", "shared-repeat2"]
    for path, manifest in found:
        path.mkdir(parents=True)
        write_manifest(path, manifest)
    with open_runs([path for path, _ in found]) as connection:
        rows = connection.execute("SELECT repeat, workload_digest FROM runs ORDER BY run").fetchall()
        assert [repeat for repeat, _ in rows] == [1, 2] and rows[0][1] == rows[1][1]
        assert connection.execute("SELECT DISTINCT is_pairable FROM run_pairs").fetchall() == [(True,)]


def test_a_stream_that_is_not_repeated_has_no_number(tmp_path: Path) -> None:
    path, manifest = planned("--stream", "shared", "-o", str(tmp_path))
    assert path.parent.name == "shared" and "repeat" not in manifest.workload
