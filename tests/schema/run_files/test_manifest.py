"""The manifest: written whole, read strictly, refused with a sentence."""

import json

import pytest

from radixflow.schema.errors import ExitCode, RadixflowError
from radixflow.schema.run_files.manifest import FORMAT_VERSION, Manifest, is_run, read_manifest, write_manifest


def manifest(**facts):
    return Manifest(experiment="try", stream="mixed", policy="radix", **facts)


def test_a_manifest_comes_back_as_it_was_written(tmp_path):
    written = manifest(model={"name": "tiny-hybrid", "is_hybrid": True}, tables={"rounds": 3}, faults=["disk full"])
    write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == written
    assert json.loads((tmp_path / "manifest.json").read_text())["format"] == "radixflow-run"
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_unknown_keys_of_the_same_version_are_passed_over():
    assert Manifest.from_json(manifest().to_json() | {"later": 1}).policy == "radix"


def test_another_version_is_refused_naming_both(tmp_path):
    (tmp_path / "manifest.json").write_text(json.dumps(manifest().to_json() | {"format_version": 7}))
    with pytest.raises(RadixflowError, match=f"version 7; .* version {FORMAT_VERSION}"):
        read_manifest(tmp_path)
    assert is_run(tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "not valid JSON"),
        ("[]", "not the manifest"),
        ('{"format": "other"}', "not the manifest"),
        ('{"format": "radixflow-run", "format_version": 1, "stream": "s", "policy": "p"}', "has no 'experiment'"),
        (json.dumps(manifest().to_json() | {"tables": []}), "'tables' is not an object of counts"),
        ("[" * 100_000, "not valid JSON"),
        (json.dumps(manifest().to_json() | {"format_version": True}), "version True"),
    ],
)
def test_a_broken_manifest_is_one_sentence(tmp_path, text, sentence):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(RadixflowError, match=sentence):
        read_manifest(tmp_path)


def test_no_manifest_is_one_sentence(tmp_path):
    with pytest.raises(RadixflowError, match="is not a run"):
        read_manifest(tmp_path)
    assert not is_run(tmp_path)


def test_a_manifest_that_cannot_be_written_is_an_output_fault(tmp_path):
    with pytest.raises(RadixflowError, match="Cannot write") as caught:
        write_manifest(tmp_path / "gone", manifest())
    assert caught.value.exit_code == ExitCode.OUTPUT


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"faults": [["unhashable"]]}, "'faults' is not a list of texts"),
        ({"tables": {"rounds": "many"}}, "'tables' is not an object of counts"),
        ({"drops": {"rounds": -1}}, "'drops' is not an object of counts"),
        ({"drops": {"rounds": 2**62, "rows": 2**62}}, "'drops' is not an object of counts"),
        ({"policy": "\ud800"}, "'policy' is not text"),
        ({"policy_effective": 3}, "'policy_effective' is not text"),
        ({"model": {"block_size": "x"}}, "'model.block_size' is not an integer"),
        ({"model": {"is_hybrid": 3}}, "'model.is_hybrid' is not true or false"),
        ({"engine_arguments": {"max_num_seqs": True}}, "'engine_arguments.max_num_seqs' is not an integer"),
        ({"workload": {"num_requests": 10**30}}, "'workload.num_requests' is not an integer"),
        ({"workload": {"rate": float("nan")}}, "'workload.rate' is not a number"),
    ],
)
def test_a_fact_of_the_wrong_kind_is_named_before_anything_trips_over_it(tmp_path, facts, sentence):
    (tmp_path / "manifest.json").write_text(json.dumps(manifest().to_json() | facts))
    with pytest.raises(RadixflowError, match=sentence):
        read_manifest(tmp_path)


def test_an_unknown_fact_may_be_null(tmp_path):
    facts = {"policy_effective": None, "model": {"block_size": None}, "workload": {"seed": None}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest().to_json() | facts))
    assert read_manifest(tmp_path).model == {"block_size": None}
