"""What goes wrong with ``attach`` before a server starts: one sentence, the right exit code, nothing left behind."""

import json
import os
import shlex
import socket
from pathlib import Path

import pytest

from radixflow.collector.cli.attach_options import count, duration, share, size
from radixflow.collector.engines.machine_facts import without_secrets
from radixflow.collector.engines.serve_line import named_model
from radixflow.schema.errors import ExitCode
from tests.collector.cli.collect_command import assert_one_sentence, collect
from tests.collector.cli.test_failures import refuses

SERVED = ["--", "tiny-hybrid", "--port", "8123"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "radixflow-collect attach [options] -- MODEL"),
        (["--"], "is empty"),
        (["tiny-hybrid"], "unrecognized arguments: tiny-hybrid"),
        (["--policy", "nosuch", *SERVED], "policy 'nosuch'"),
        (["--policy", "stock", *SERVED], "radix is the same scheduling, recorded"),
        (["--sample-rounds", "0%", *SERVED], "--sample-rounds: '0%' is no share"),
        (["--sample-rounds", "abc", *SERVED], "--sample-rounds: 'abc' is no share"),
        (["--sample-rounds", "101%", *SERVED], "is no share"),
        (["--sample-rounds", "0.5", *SERVED], "is no share"),
        (["--max-size", "2 elephants", *SERVED], "is no size"),
        (["--max-size", "0GiB", *SERVED], "is no size"),
        (["--max-duration", "1 fortnight", *SERVED], "is no time"),
        (["--rotate", "0", *SERVED], "is no number of runs"),
        (["--stream", "../elsewhere", *SERVED], "cannot name a folder"),
        (["--experiment", "a/b", *SERVED], "cannot name a folder"),
        (["--probe", "some", *SERVED], "--probe"),
        (["--force", *SERVED], "unrecognized arguments: --force"),
    ],
)
def test_a_wrong_command_line(words: list[str], says: str, tmp_path: Path) -> None:
    result = collect("attach", "-o", tmp_path, *words)
    assert says.lower() in result.stderr.lower()
    assert (result.returncode, result.stdout) == (ExitCode.USAGE, "")
    assert_one_sentence(result.stderr)
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    refuses(ExitCode.OUTPUT, ["attach", "-o", tmp_path / "file", *SERVED], "Cannot write to")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    refuses(ExitCode.OUTPUT, ["attach", "-o", tmp_path / "closed", *SERVED], "Permission denied")


def test_a_vllm_that_was_not_tested(tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    package = tmp_path / "vllm-0.1.0.dist-info"  # found before the real one
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.1.0\n")
    paths = os.pathsep.join(
        [str(tmp_path), os.environ.get("PYTHONPATH", ""), str(Path(__file__).parents[3] / ".import_root")]
    )
    words: list[str | Path] = ["attach", "-o", tmp_path / "runs", *SERVED]
    refuses(ExitCode.ENVIRONMENT, words, "vllm 0.1.0 was not tested", PYTHONPATH=paths)
    assert not (tmp_path / "runs").exists()


@pytest.mark.engine
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tiny-hybrid", "--no-such-option"], "--no-such-option"),
        (["tiny-hybrid", "--scheduler-cls", "mine.Scheduler"], "--scheduler-cls is what records the server"),
        (["tiny-hybrid", "--max-model-len", "100000"], "vLLM refuses this configuration"),
        pytest.param(["tiny-hybrid", "--port", "http"], "--port", marks=pytest.mark.long),
    ],
)
def test_what_vllm_refuses(words: list[str], says: str, tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    refuses(ExitCode.USAGE, ["attach", "-o", tmp_path, "--", *words], says)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
def test_a_port_in_use(tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words: list[str | Path] = ["attach", "--exec", "-o", tmp_path, "--", "tiny-attention", "--host", "127.0.0.1"]
        refuses(ExitCode.ENVIRONMENT, [*words, "--port", port], "Address already in use")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
def test_the_printed_line_records_and_keeps_what_the_user_says(tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    given = [
        "tiny-hybrid",
        "--port",
        "8123",
        "--max-num-seqs",
        "8",
        "--additional-config",
        '{"mine": 1}',
        "--api-key",
        "hush",
    ]
    options = [
        "--sample-rounds",
        "1%",
        "--max-size",
        "1GB",
        "--max-duration",
        "2h",
        "--rotate",
        "3",
        "--probe",
        "blocked",
    ]
    result = collect("attach", "-o", tmp_path, *options, "--", *given)
    assert result.returncode == 0, result.stderr
    words = shlex.split(result.stdout)
    assert result.stdout.count("\n") == 1
    serve = words[words.index("serve") + 1 :]
    assert serve[1:7] == given[1:7]
    assert serve.count("--max-num-seqs") == 1  # ours is a default only
    assert serve[serve.index("--block-size") + 1] == "128"  # else a CPU engine gives wrong answers
    assert serve[serve.index("--scheduler-cls") + 1] == "radixflow.collector.instrumentation.RecordedScheduler"
    config = json.loads(serve[-1])
    assert config["mine"] == 1
    ours = config["radixflow"]["attach"]
    assert config["radixflow"]["policy"] == "radix"
    assert (ours["sample_rounds"], ours["max_size_bytes"], ours["max_duration_s"]) == (0.01, 10**9, 7200.0)
    assert (ours["rotate"], ours["probe"], ours["folder"]) == (3, "blocked", str(tmp_path / "tiny-hybrid"))
    assert "hush" not in json.dumps(config)
    assert list(tmp_path.iterdir()) == []


def test_quantities_have_units() -> None:
    assert (share("1%"), share("0.5 %"), share("100%")) == (0.01, 0.005, 1.0)
    assert (size("500MB"), size("2GiB"), size("1.5kB"), size("none")) == (500_000_000, 2 * 2**30, 1500, None)
    assert (duration("90s"), duration("15min"), duration("1h"), duration("none")) == (90.0, 900.0, 3600.0, None)
    assert count("24") == 24


def test_the_model_is_found_in_the_words_of_vllm_serve() -> None:
    assert named_model(["a/b", "--port", "1"]) == "a/b"
    assert named_model(["--port", "1", "--model", "a/b"]) == "a/b"
    assert named_model(["--model=a/b"]) == "a/b"
    assert named_model(["--config", "serve.yaml"]) is None


def test_secrets_do_not_get_into_a_manifest() -> None:
    words = ["serve", "m", "--api-key", "a", "b", "--hf-token=c", "--tokenizer", "t", "--max-num-batched-tokens", "5"]
    assert without_secrets(words) == [
        "serve", "m", "--api-key", "***", "***", "--hf-token=***", "--tokenizer", "t", "--max-num-batched-tokens", "5",
    ]  # fmt: skip
