"""Shipped models: the same bytes each time, whole or not there, and never stale."""

import hashlib
import multiprocessing
from pathlib import Path

import pytest

from radixflow.collector.models import model_cache
from radixflow.collector.models.model_cache import cache_folder, model_digest, shipped_model_folder
from radixflow.collector.models.shipped_models import SHIPPED_MODELS, ShippedModel
from radixflow.schema.errors import ExitCode, RadixflowError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(model_cache.CACHE_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", SHIPPED_MODELS)
def test_two_builds_are_equal_whatever_the_global_random_state(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    for number in range(2):
        monkeypatch.setenv(model_cache.CACHE_VARIABLE, str(tmp_path / str(number)))
        torch.manual_seed(number)
        before = torch.get_rng_state()
        built.append(digests(shipped_model_folder(SHIPPED_MODELS[name])))
        assert torch.equal(before, torch.get_rng_state())
    assert built[0] == built[1]
    assert {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"} <= built[0].keys()


def test_the_hybrid_forgets_slowly(cache: Path) -> None:
    from safetensors.torch import load_file

    weights = load_file(shipped_model_folder(SHIPPED_MODELS["tiny-hybrid"]) / "model.safetensors")
    decays = [tensor for name, tensor in weights.items() if name.endswith("A_log")]
    assert len(decays) == 3
    assert all((tensor == -8).all() for tensor in decays)
    assert all((tensor == 0).all() for name, tensor in weights.items() if name.endswith("dt_bias"))


def test_a_model_is_built_once(cache: Path) -> None:
    model = SHIPPED_MODELS["tiny-attention"]
    written = (shipped_model_folder(model) / "model.safetensors").stat().st_mtime_ns
    assert (shipped_model_folder(model) / "model.safetensors").stat().st_mtime_ns == written
    assert len(list((cache / "models").iterdir())) == 1  # and nothing half-built stays


def test_another_configuration_is_another_folder(cache: Path) -> None:
    model = SHIPPED_MODELS["tiny-attention"]
    changed = ShippedModel(model.name, model.description, False, {**model.config, "hidden_size": 32})
    assert model_digest(changed) != model_digest(model)
    assert shipped_model_folder(changed) != shipped_model_folder(model)


def test_a_build_that_fails_leaves_nothing(cache: Path) -> None:
    model = SHIPPED_MODELS["tiny-attention"]
    broken = ShippedModel(model.name, model.description, False, {**model.config, "vocab_size": "many"})
    with pytest.raises(Exception, match="many"):
        shipped_model_folder(broken)
    assert list((cache / "models").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(model_cache.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(RadixflowError, match="cannot be written to") as refusal:
        shipped_model_folder(SHIPPED_MODELS["tiny-attention"])
    assert refusal.value.exit_code == ExitCode.OUTPUT


def _build(start: object, results: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    results.put(str(shipped_model_folder(SHIPPED_MODELS["tiny-attention"])))  # type: ignore[attr-defined]


def test_concurrent_builders_agree(cache: Path) -> None:
    context = multiprocessing.get_context("fork")
    start, results = context.Event(), context.Queue()
    builders = [context.Process(target=_build, args=(start, results)) for _ in range(3)]
    for builder in builders:
        builder.start()
    start.set()
    folders = {results.get(timeout=120) for _ in builders}
    for builder in builders:
        builder.join(30)
    assert len(folders) == 1
    assert [str(path) for path in (cache / "models").iterdir()] == list(folders)
    assert "model.safetensors" in digests(Path(folders.pop()))


def test_the_tokenizer_reads_words_and_needs_no_network(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(shipped_model_folder(SHIPPED_MODELS["tiny-attention"]))
    assert tokenizer("w2 w17 w511 elsewhere")["input_ids"] == [2, 17, 511, 0]
    assert tokenizer.decode([2, 17, 511]) == "w2 w17 w511"
    assert tokenizer.eos_token_id == 1


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(model_cache.CACHE_VARIABLE, "/somewhere")
    assert cache_folder() == Path("/somewhere")
    monkeypatch.delenv(model_cache.CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder() == Path("/cache/radixflow")
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")  # which the rules tell to ignore
    assert cache_folder() == Path("/home/someone/.cache/radixflow")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path("/home/someone/.cache/radixflow")
