"""The shipped recordings stay small, and their README says what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.architecture.trees import ROOT

SAMPLES = ROOT / "sample_runs"
MANIFESTS = sorted(SAMPLES.rglob("manifest.json"))
MEGABYTE = 1_000_000


def test_recordings_are_small_enough_for_git() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 3 * MEGABYTE


def test_both_arms_of_the_demo_are_there() -> None:
    assert {path.parent.name for path in MANIFESTS} >= {"radix", "radixflow-immediate"}


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.parent.name)
def test_the_readme_tells_machine_versions_command_and_date(path: Path) -> None:
    manifest = json.loads(path.read_text())
    text = (SAMPLES / "README.md").read_text()
    said = " ".join(text.replace("\\\n", " ").split())
    versions, hardware = manifest["versions"], manifest["hardware"]
    assert path.parent.relative_to(SAMPLES).as_posix() in said
    assert manifest["state"] == "complete"
    assert manifest["created_utc"][:10] in said
    assert f"vLLM {versions['vllm']}" in said and f"torch {versions['torch']}" in said
    assert f"Python {versions['python']}" in said
    assert hardware["cpu"] in said and f"{hardware['num_cores']} cores" in said
    assert " ".join(manifest["command"]) in said
    assert f"{manifest['workload']['num_requests']} requests" in said
