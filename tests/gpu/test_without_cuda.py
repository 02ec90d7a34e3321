"""What can be checked of the GPU script without a GPU: its checks by value, its arguments, and that it says why not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.collector.cli.collect_command import IMPORT_ROOT, environment
from tests.gpu import record_on_cuda
from tests.gpu.dummy_models import MODELS, write_model
from tests.gpu.span_checks import Span, faults

ROOT = Path(__file__).parents[2]
MAPPED = {"num_anchors": 3, "drift_ppm": 4.0, "num_lost": 0}
MICROSECOND = 1_000


def good_rounds() -> list[Span]:
    """Two rounds of 10 ms: launched at once, computed one after the other, as under asynchronous scheduling."""
    spans = []
    for number, launched in ((1, 0), (2, 2_000)):
        begun = (number - 1) * 10_000
        for name, offset, start, end in (
            ("execute", 100, 0, 8_000), ("forward", 300, 500, 7_500), ("sample", 900, 8_000, 9_000),
        ):  # fmt: skip
            host, at = (launched + offset) * MICROSECOND, begun + 1_000
            spans.append(Span(number, name, "host", host, host + 50 * MICROSECOND))
            spans.append(Span(number, name, "device", (at + start) * MICROSECOND, (at + end) * MICROSECOND))
    return spans


UPDATES = {1: 11_000 * MICROSECOND, 2: 21_000 * MICROSECOND}


def moved(spans: list[Span], number: int, name: str, by_us: int) -> list[Span]:
    return [
        span._replace(start_ns=span.start_ns + by_us * MICROSECOND, end_ns=span.end_ns + by_us * MICROSECOND)
        if (span.round, span.component, span.clock) == (number, name, "device")
        else span
        for span in spans
    ]


def test_good_rounds_have_no_fault() -> None:
    assert faults(good_rounds(), UPDATES, MAPPED) == []


@pytest.mark.parametrize(
    ("number", "name", "by_us", "sentence"),
    [
        (1, "sample", -9_000, "sample of round 1 begins on the device before the host launches it."),
        (2, "execute", 3_000, "execute of round 2 ends on the device after its output was processed."),
        (1, "forward", 700, "The forward pass of round 1 lies outside its execution."),
        (2, "forward", -9_000, "The forward passes of rounds 1 and 2 overlap on the device."),
    ],
)
def test_a_span_that_cannot_be_true_is_found(number: int, name: str, by_us: int, sentence: str) -> None:
    assert sentence in faults(moved(good_rounds(), number, name, by_us), UPDATES, MAPPED)


def test_a_missing_interval_and_a_bad_clock_are_found() -> None:
    spans = [span for span in good_rounds() if (span.round, span.component, span.clock) != (2, "forward", "device")]
    assert faults(spans, UPDATES, MAPPED) == ["Round 2 has 0 intervals of forward on the device, not one."]
    assert faults(good_rounds(), UPDATES, MAPPED | {"drift_ppm": 900.0}) == ["The device's clock drifts by 900 ppm."]
    assert faults(good_rounds(), UPDATES, MAPPED | {"num_lost": 2}) == ["2 intervals were lost."]
    assert faults(good_rounds(), UPDATES, {}) == ["The device's clock was not anchored at the start and at the end."]


@pytest.mark.parametrize("name", MODELS)
def test_configurations_are_those_of_hybrids(name: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.AutoConfig.from_pretrained(write_model(tmp_path, name)).get_text_config()
    kinds = set(config.layer_types)
    assert kinds == {"linear_attention", "full_attention"}
    assert config.layer_types.count("full_attention") * 4 == config.num_hidden_layers
    assert (
        json.loads((tmp_path / name / "config.json").read_text())["architectures"] == MODELS[name][0]["architectures"]
    )


@pytest.mark.parametrize("name", MODELS)
def test_every_engine_option_is_known_to_vllm(name: str, tmp_path: Path) -> None:
    pytest.importorskip("vllm")
    from vllm.engine.arg_utils import AsyncEngineArgs
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    from radixflow.collector.cli.record_options import parse_record_options

    for is_compiled in (False, True):
        line = record_on_cuda.command(tmp_path, name, tmp_path, "cuda", is_compiled)
        options, engine_words = parse_record_options(line[3:])
        assert tuple(options.policy) == record_on_cuda.POLICIES
        parsed = AsyncEngineArgs.add_cli_args(FlexibleArgumentParser()).parse_args(engine_words)
        assert (parsed.load_format, parsed.enforce_eager) == ("dummy", not is_compiled)


def test_without_a_cuda_device_it_says_so() -> None:
    if any(Path(name).exists() for name in ("/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg")):
        pytest.skip("this machine has a CUDA device")
    pytest.importorskip("vllm")
    line = [sys.executable, "-m", "tests.gpu.record_on_cuda", "--output", "unused"]
    variables = environment(PYTHONPATH=f"{IMPORT_ROOT}:{ROOT}")
    result = subprocess.run(line, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=120)
    assert result.returncode == 3
    assert result.stderr.startswith("radixflow-collect: This machine has no CUDA device")
    assert not (ROOT / "unused").exists()
