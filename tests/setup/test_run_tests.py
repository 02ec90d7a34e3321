"""What `make test` says of its own steps: a run without a passing test is no success."""

from __future__ import annotations

import importlib.util
import re
import subprocess
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


@pytest.mark.parametrize(("answers", "verdict"), [([0], 0), ([1], 1), ([2, 0], 0), ([2, 1], 1), ([2, 2], 1)])
def test_types_are_checked_again_where_a_worker_of_mypy_was_lost(
    runner: ModuleType, monkeypatch: pytest.MonkeyPatch, answers: list[int], verdict: int
) -> None:
    asked: list[tuple[str, ...]] = []

    def run(name: str, command: tuple[str, ...]) -> tuple[int, float]:
        asked.append(command)
        return answers[len(asked) - 1], 1.0

    monkeypatch.setattr(runner, "run", run)
    result = runner.run_linter("mypy", ("mypy", "--num-workers", "2"))
    assert asked[1:] == [("mypy",)] * (len(answers) - 1)
    assert (result.failed, result.seconds) == (verdict, len(answers))


SEVERAL = (
    "import time\nimport pytest\n\n@pytest.mark.parametrize('x', range(6))\ndef test_it(x):\n    time.sleep(0.05)\n"
)


@pytest.mark.parametrize("is_listed", [True, False])
def test_tests_that_share_something_run_in_one_process(tmp_path: Path, is_listed: bool) -> None:
    """Without the list, the control arm, a parallel run spreads them."""
    text = (ROOT / "tests" / "conftest.py").read_text()
    listed = '{"tests/test_a.py": "made"}' if is_listed else "{}"
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(
        re.sub(r"(?s)^TOGETHER = \{.*?^\}", f"TOGETHER = {listed}", text, flags=re.M)
    )
    for name in ("test_a", "test_b"):
        (tmp_path / "tests" / f"{name}.py").write_text(SEVERAL)
    options = ("-n", "2", "-v", "--rootdir", str(tmp_path), "-c", "/dev/null", "-p", "no:cacheprovider", "tests")
    said = subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=tmp_path, capture_output=True, text=True, timeout=120
    ).stdout
    ran = re.findall(r"\[(gw\d)\].* PASSED tests/test_a.py", said)
    assert len(ran) == 6, said
    assert len(set(ran)) == (1 if is_listed else 2)
