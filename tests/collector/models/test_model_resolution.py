"""From a name on the command line to a model, without a download."""

from pathlib import Path

import pytest

from radixflow.collector.models.model_resolution import resolve_model
from radixflow.collector.models.shipped_models import SHIPPED_MODELS
from radixflow.schema.errors import ExitCode, RadixflowError


@pytest.fixture(autouse=True)
def _empty_hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)


def test_shipped_names_win() -> None:
    for name, shipped in SHIPPED_MODELS.items():
        assert resolve_model(name).shipped is shipped


def test_a_folder_is_named_by_its_last_part_only(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    choice = resolve_model(str(folder))
    assert (choice.name, choice.location) == ("mine", str(folder))
    assert choice.prepare() == str(folder)


def test_a_hub_id_is_passed_through() -> None:
    assert resolve_model("owner/Model-0.5B").prepare() == "owner/Model-0.5B"


@pytest.mark.parametrize("name", ["nosuch", "./nosuch", "/nosuch/model", "a/b/c", "owner/", "", "~/nosuch", "-x/y"])
def test_what_is_nothing_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(RadixflowError) as refusal:
        resolve_model(name)
    assert refusal.value.exit_code == ExitCode.USAGE
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).endswith(".")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RadixflowError, match=r"no config\.json"):
        resolve_model(str(tmp_path))


def test_offline_a_hub_id_must_be_in_the_local_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(RadixflowError, match="downloads are switched off"):
        resolve_model("owner/model")
    (tmp_path / "hub" / "models--owner--model").mkdir(parents=True)
    assert resolve_model("owner/model").location == "owner/model"
