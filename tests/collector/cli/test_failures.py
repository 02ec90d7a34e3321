"""What goes wrong before an engine starts: one clear sentence on stderr, the right exit code, nothing on stdout."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

from radixflow.schema.errors import ExitCode
from radixflow.schema.run_files.manifest import Manifest
from radixflow.schema.run_files.run_directory import create_run
from tests.collector.cli.collect_command import COMMAND, assert_one_sentence, collect, environment


def refuses(code: ExitCode, words: list[str | Path], says: str, **changes: str) -> None:
    result = collect(*words, **changes)
    assert says in result.stderr
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    assert_one_sentence(result.stderr)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--model"),
        (["--model", "nosuch"], "no model nosuch"),
        (["--model", "./no/such/folder"], "no model folder ./no/such/folder"),
        (["--model", "tiny-hybrid", "--policy", "nosuch"], "policy 'nosuch'"),
        (["--model", "tiny-hybrid", "--policy", "radix", "--policy", "radix"], "named twice"),
        (["--model", "tiny-hybrid", "--workload", "nosuch"], "--workload"),
        (["--model", "tiny-hybrid", "--num-groups", "none"], "--num-groups"),
        (["--model", "tiny-hybrid", "--num-groups", "0"], "--num-groups"),
        (["--model", "tiny-hybrid", "--rate", "nan"], "--rate"),
        (["--model", "tiny-hybrid", "--num-groups", "9" * 20], "--num-groups"),
        (["--model", "tiny-hybrid", "--branches", "9" * 20], "--branches"),
        (["--model", "tiny-hybrid", "--rate", "1e-320"], "--rate"),
        (["--model", "tiny-hybrid", "--seed", "9" * 20], "--seed"),
        (["--model", "tiny-hybrid", "--max-output-tokens", "9" * 20], "--max-output-tokens"),
        (["--model", "tiny-hybrid", "--long-document-tokens", "9" * 400], "Document lengths"),
        (["--model", "tiny-hybrid", "--vocabulary-size", "9" * 20], "--vocabulary-size"),
        (["--model", "tiny-hybrid", "--repeat", "0"], "--repeat"),
        (["--model", "tiny-hybrid", "--stream", "../elsewhere"], "cannot name a folder"),
        (["--model", "tiny-hybrid", "--experiment", "a" * 300], "cannot name a folder"),
        (["--model", ""], "no model ''"),
        (["--model", "a" * 5000], "no model aaa"),
        (["--model", "~nobody-of-this-name/model"], "no model folder ~nobody"),
        (["--model", "two\nlines"], "no model two lines"),
        (["--model", "\x1b[31mred"], "no model [31mred"),
        (["--model", "tiny-hybrid", "--output", ""], "empty"),
        (["check"], "RUN"),
        (["check", "/no/such/run"], "/no/such/run"),
    ],
)
def test_a_wrong_command_line(words: list[str | Path], says: str, tmp_path: Path) -> None:
    refuses(ExitCode.USAGE, words if words[:1] in ([], ["check"]) else [*words, "-o", tmp_path], says)
    assert list(tmp_path.iterdir()) == []


def test_offline_a_model_that_is_not_in_the_cache(tmp_path: Path) -> None:
    refuses(
        ExitCode.USAGE, ["--model", "owner/model"], "not in the local", HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(tmp_path)
    )


@pytest.mark.engine
def test_a_bad_engine_argument(tmp_path: Path) -> None:
    words: list[str | Path] = ["--model", "tiny-attention", "-o", tmp_path, "--no-such-engine-option"]
    refuses(ExitCode.USAGE, words, "unrecognized arguments: --no-such-engine-option")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
def test_a_stream_of_which_nothing_fits(tmp_path: Path) -> None:
    words = ["--num-groups", "1", "--branches", "2", "--max-model-len", "8"]
    result = collect("--model", "tiny-attention", "-o", tmp_path, *words)
    assert result.returncode == ExitCode.USAGE
    first, second, failure = result.stderr.splitlines(keepends=True)
    assert first.startswith("Request q00000-b0 is rejected: ")
    assert second.startswith("Request q00000-b1 is rejected: ")
    assert "all of them were rejected" in failure
    assert_one_sentence(failure)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.path.exists("/dev/nvidiactl"), reason="this machine has a CUDA device")
def test_a_machine_without_the_asked_device(tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    refuses(ExitCode.ENVIRONMENT, ["--model", "tiny-hybrid", "--device", "cuda", "-o", tmp_path], "no CUDA device")


def test_an_output_whose_name_no_file_can_have(tmp_path: Path) -> None:
    refuses(ExitCode.OUTPUT, ["--model", "tiny-hybrid", "-o", tmp_path / ("a" * 300)], "File name too long")


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    refuses(ExitCode.OUTPUT, ["--model", "tiny-hybrid", "-o", tmp_path / "file"], "Cannot write to")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    refuses(ExitCode.OUTPUT, ["--model", "tiny-hybrid", "-o", tmp_path / "closed"], "Permission denied")


def test_an_existing_run_is_not_replaced_without_force(tmp_path: Path) -> None:
    path = tmp_path / "e" / "s" / "radix"
    create_run(path, Manifest("e", "s", "radix"))
    before = (path / "manifest.json").read_bytes()
    words = ["--model", "tiny-hybrid", "-o", tmp_path, "--experiment", "e", "--stream", "s"]
    refuses(ExitCode.OUTPUT, words, "--force replaces it")
    assert (path / "manifest.json").read_bytes() == before


def test_a_folder_that_is_no_run_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "e" / "s" / "radix"
    path.mkdir(parents=True)
    (path / "thesis.tex").write_text("precious")
    words = ["--model", "tiny-hybrid", "-o", tmp_path, "--experiment", "e", "--stream", "s", "--force"]
    refuses(ExitCode.OUTPUT, words, "is not a run")
    assert (path / "thesis.tex").read_text() == "precious"


@pytest.fixture
def packages_without_vllm(tmp_path: Path) -> Path:
    """The installed packages but for vLLM, as an environment without it has them."""
    folder = tmp_path / "packages"
    folder.mkdir()
    for packages in map(Path, site.getsitepackages()):
        for entry in packages.iterdir() if packages.is_dir() else ():  # Debian names folders that are not there
            if not entry.name.startswith("vllm") and entry.suffix != ".pth" and not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)
    return folder


def test_no_vllm_installed(tmp_path: Path, packages_without_vllm: Path) -> None:
    paths = os.pathsep.join([environment()["PYTHONPATH"], str(packages_without_vllm)])
    command = [sys.executable, "-S", *COMMAND[1:]]  # -S: without the packages of this environment
    words = ["--model", "tiny-hybrid", "-o", str(tmp_path / "runs")]
    result = subprocess.run(
        [*command, *words], capture_output=True, text=True, timeout=60, env=environment(PYTHONPATH=paths)
    )
    assert result.returncode == ExitCode.ENVIRONMENT, result.stderr
    assert "vLLM is not installed" in result.stderr
    assert_one_sentence(result.stderr)

    help_text = subprocess.run(
        [*command, "--help"], capture_output=True, text=True, timeout=60, env=environment(PYTHONPATH=paths)
    )
    assert help_text.returncode == 0
    assert "radixflow-immediate" in help_text.stdout
