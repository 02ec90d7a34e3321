"""Engine options go through vLLM's own parser and are the same in every arm."""

from pathlib import Path

import pytest

from radixflow.collector.engines.vllm_arguments import EngineSettings, parse_engine_arguments
from radixflow.collector.engines.vllm_environment import device_in_use, prepare_environment
from radixflow.collector.models.model_resolution import resolve_model
from radixflow.schema.errors import ExitCode, RadixflowError

pytest.importorskip("vllm")
pytestmark = pytest.mark.engine


def parsed(model: str, *words: str) -> EngineSettings:
    choice = resolve_model(model)
    return parse_engine_arguments(words, choice.prepare(), choice.shipped, device_in_use("auto"))


@pytest.fixture(autouse=True, scope="module")
def _environment() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_LOGGING_LEVEL", "ERROR")  # so that leaving the context restores the environment's keys
        prepare_environment(is_shipped_model=True, verbose=False)


def test_shipped_models_have_defaults_and_options_override_them() -> None:
    settings = parsed("tiny-hybrid", "--max-num-seqs", "8", "--max_model_len=2k")
    assert settings.arguments.max_num_seqs == 8
    assert settings.max_model_len == 2000
    assert settings.arguments.max_num_batched_tokens == 4096
    assert settings.arguments.mamba_cache_mode == "align"
    assert settings.is_prefix_caching_on
    assert not parsed("tiny-hybrid", "--no-enable-prefix-caching", "--mamba-cache-mode", "none").is_prefix_caching_on


def test_hybrids_on_a_cpu_get_their_block_size_explicitly() -> None:
    """Otherwise vLLM's CPU platform resets it in a started engine, and states are published at wrong boundaries."""
    hybrid = resolve_model("tiny-hybrid").prepare()
    for model in ("tiny-hybrid", hybrid):
        assert parsed(model).arguments.block_size == 128
    assert parsed("tiny-hybrid", "--block-size", "256").arguments.block_size == 256
    assert parsed("tiny-attention").arguments.block_size is None


def test_a_model_of_the_user_keeps_the_defaults_of_vllm() -> None:
    folder = resolve_model("tiny-attention").prepare()
    assert parsed(folder).max_model_len == 32768
    assert not parsed(folder).arguments.enforce_eager


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--max-num-seqs", "many"], "--max-num-seqs"),
        (["--no-such-option"], "--no-such-option"),
        (["stray"], "stray"),
        (["--scheduler-cls", "mine.Scheduler"], "--scheduler-cls is set by the collector"),
        (["--additional-config.radixflow", "1"], "--additional-config is set by the collector"),
        (["--max-model-len", "100000"], "100000"),  # more than the model has positions
        (["--kv-cache-dtype", "fp1"], "--kv-cache-dtype"),
    ],
)
def test_what_vllm_refuses_is_one_sentence(words: list[str], says: str) -> None:
    with pytest.raises(RadixflowError) as refusal:
        parsed("tiny-attention", *words)
    assert refusal.value.exit_code == ExitCode.USAGE
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).endswith((".", "?", "!"))


def test_arms_differ_in_the_policy_alone(tmp_path: Path) -> None:
    settings = parsed("tiny-hybrid")
    stock, radix, flow = (
        settings.for_arm(name, tmp_path, "full") for name in ("stock", "radix", "radixflow-immediate")
    )
    assert stock.scheduler_cls is None
    told = {"run_directory": str(tmp_path), "policy": "radix", "probe": "full", "nvtx": True}
    assert radix.additional_config["radixflow"] == told
    flow.additional_config["radixflow"]["policy"] = "radix"
    assert flow == radix
    radix.scheduler_cls, radix.worker_cls, radix.additional_config = (
        stock.scheduler_cls, stock.worker_cls, stock.additional_config,
    )  # fmt: skip
    assert radix == stock
