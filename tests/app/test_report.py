"""The report: one file, complete, self-contained, and one sentence when it cannot be written."""

import json
import re

import pytest

from radixflow.app.report.cli import main
from radixflow.schema.errors import ExitCode
from tests import builders


def written(tmp_path, *arguments) -> str:
    output = tmp_path / "report.html"
    assert main([*map(str, arguments), "-o", str(output)]) == ExitCode.OK
    return output.read_text(encoding="utf-8")


def figures(text: str) -> dict[str, dict]:
    found = re.findall(r'<script type="application/json" id="figure-([\w-]+)">(.*?)</script>', text, re.DOTALL)
    return {name: json.loads(content) for name, content in found}


def without_plotly(text: str) -> str:
    """The report less the library that it embeds."""
    return re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def test_a_report_holds_the_numbers_figures_and_definitions_of_both_arms(tmp_path, capsys):
    text = written(tmp_path, *builders.tiny_pair(tmp_path / "runs"))
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.html")
    assert "radix left 3 rows unused although work was READY, in 3 of 6 rounds." in text
    assert "radixflow-immediate needs 2 fewer rounds than radix." in text
    assert re.search(r"<td>Rounds</td>\s*<td>6</td>\s*<td>4</td>", text)
    assert set(figures(text)) >= {"timeline", "slot-ledger", "fullness", "stop-reasons", "visits-by-cause", "waits-0"}
    assert "Formula: sum(rows_used) / num_rounds." in text
    assert "was simulated" in text


def test_a_report_embeds_plotly_once_and_names_no_other_place(tmp_path):
    text = written(tmp_path, *builders.tiny_pair(tmp_path / "runs"))
    assert len(re.findall(r"plotly\.js v\d", text)) == 1
    outside = without_plotly(text)
    assert not re.search(r"""(src|href)=["'](?!#)""", outside)
    assert "https://" not in outside and "http://" not in outside
    assert "default-src 'none'" in outside
    assert all(figure["config"]["showSendToCloud"] is False for figure in figures(text).values())


def test_a_folder_of_runs_is_taken_whole_with_the_prefix_stop_arm_first(tmp_path):
    builders.tiny_pair(tmp_path / "runs")
    text = written(tmp_path, tmp_path / "runs")
    assert "<h1>radix and radixflow-immediate</h1>" in text


@pytest.mark.parametrize(
    "make", [builders.empty_run, builders.one_round_run, builders.incomplete_run, builders.broken_run]
)
def test_every_kind_of_run_can_be_reported(tmp_path, make):
    assert "What is wrong" in written(tmp_path, make(tmp_path / "runs"))


def test_a_broken_run_is_named_and_a_whole_one_is_not(tmp_path):
    whole, _ = builders.tiny_pair(tmp_path / "runs")
    assert "Nothing found: both ledgers close" in written(tmp_path, whole)
    broken = builders.broken_run(tmp_path / "broken")
    (tmp_path / "report.html").unlink()
    assert re.search(
        r"\d+ faults? found in the recordings; the numbers above leave out what is broken", written(tmp_path, broken)
    )


def test_what_a_run_says_cannot_script_a_report(tmp_path):
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    run = builders.RunBuilder(tmp_path / "run", "radix", experiment=hostile, stream=hostile)
    run.manifest.model["name"] = hostile
    run.manifest.command = [hostile]
    run.request(hostile)
    run.request("b")
    run.round((hostile, 48), visits=(builders.blocked("b", hostile),), stop="blocked", stop_request="b")
    run.round(("b", 48))
    text = written(tmp_path, run.write())
    assert "alert(1)" in text
    assert "<img src=x" not in text and "<script>alert" not in text
    assert figures(text)["timeline"]["data"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["nosuch"], ExitCode.USAGE, "There is no folder"),
        (["empty"], ExitCode.USAGE, "There is no run in"),
        (["future"], ExitCode.USAGE, "99"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(tmp_path, capsys, arguments, code, sentence):
    (tmp_path / "empty").mkdir()
    builders.broken_run(tmp_path / "future", "future_version")
    words = [str(tmp_path / name) for name in arguments]
    assert main([*words, "-o", str(tmp_path / "r.html")]) == code
    said = capsys.readouterr()
    assert sentence in said.err and said.err.count("\n") == 1 and said.out == ""
    assert not (tmp_path / "r.html").exists()


def test_a_file_is_replaced_only_when_asked(tmp_path, capsys):
    run = builders.one_round_run(tmp_path / "runs")
    output = tmp_path / "r.html"
    output.write_text("mine")
    assert main([str(run), "-o", str(output)]) == ExitCode.OUTPUT
    assert output.read_text() == "mine" and "--force" in capsys.readouterr().err
    assert main([str(run), "-o", str(output), "--force"]) == ExitCode.OK
    assert output.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("place", ["missing/r.html", "."])
def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path, capsys, place):
    run = builders.one_round_run(tmp_path / "runs")
    assert main([str(run), "-o", str(tmp_path / place)]) == ExitCode.OUTPUT
    assert capsys.readouterr().err.count("\n") == 1


def test_an_install_without_the_app_says_what_is_missing(tmp_path, capsys, monkeypatch):
    run = builders.one_round_run(tmp_path / "runs")
    monkeypatch.setitem(__import__("sys").modules, "radixflow.app.report.html_report", None)
    assert main([str(run), "-o", str(tmp_path / "r.html")]) == ExitCode.ENVIRONMENT
    assert "radixflow[app]" in capsys.readouterr().err


def test_a_file_that_is_damaged_inside_is_one_sentence(tmp_path, capsys):
    run = builders.tiny_pair(tmp_path / "runs")[0]
    (segment,) = (run / "rows").glob("*.parquet")
    content = segment.read_bytes()
    segment.write_bytes(content[:60] + bytes(60) + content[120:])
    assert main([str(run), "-o", str(tmp_path / "report.html")]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "cannot be read" in said and "radixflow-collect check" in said and said.count("\n") == 1
    assert not (tmp_path / "report.html").exists()
