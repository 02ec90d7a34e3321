"""What `make test` says of its own steps: a run without a passing test is no success."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPS = "import pytest\n\ndef test_nothing():\n    pytest.skip('not here')\n"
PASSES = "def test_something():\n    assert True\n"


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, which leaves its reports in a folder of the test."""
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "scripts" / "run_tests.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run_tests", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(module, "BIN", Path(sys.executable).parent)
    return module


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (PASSES, (1, 0, 0)),
        (PASSES + SKIPS, (1, 0, 1)),
        (SKIPS, (0, 1, 1)),
        ("def test_wrong():\n    assert False\n", (0, 1, 0)),
        ("no python at all", (0, 1, 0)),
        ("", (0, 1, 0)),
    ],
)
def test_a_group_passes_only_if_a_test_of_it_does(
    runner: ModuleType, tmp_path: Path, text: str, counts: tuple[int, int, int]
) -> None:
    file = tmp_path / "test_made.py"
    file.write_text(text)
    options = ("-q", "--rootdir", str(tmp_path), "-c", "/dev/null", "-p", "no:cacheprovider")
    result, _ = runner.run_test_group("made", options, (str(file),))
    assert (result.passed, result.failed, result.skipped) == counts
    assert runner.summarize([result]) == (1 if result.failed else 0)


def test_the_slowest_tests_and_the_seconds_of_folders_are_printed(
    runner: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    times = [runner.TestTime("tests.schema.views.test_a", f"test_{number}", float(number)) for number in range(30)]
    runner.say_where_the_time_goes([*times, runner.TestTime("tests.app.test_b", "test_b", 2.5)])
    said = capsys.readouterr().out
    assert said.count("::") == runner.NUM_SLOWEST
    assert "29.0 s  tests.schema.views.test_a::test_29" in said and "test_9\n" not in said
    assert "435 s  tests/schema/views (30 tests)" in said and "2 s  tests/app (1 tests)" in said
