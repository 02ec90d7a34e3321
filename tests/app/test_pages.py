"""Every page, on every kind of run that a person may open."""

import json
import shutil

import pytest
from streamlit.testing.v1 import AppTest

from tests import builders
from tests.page_list import ROOT, listed_pages
from tests.sampled_builder import sampled_run

PAGES = {name: page.heading for name, page in listed_pages().items()}


def broken_and_whole(root):
    """Both arms, and beside them one whose visits are cut in half."""
    builders.tiny_pair(root)
    builders.broken_run(root)


def simulated_and_real(root):
    """A simulated arm, and one that says it comes from the real engine."""
    builders.tiny_pair(root)
    run = builders.RunBuilder(root / "tiny" / "figure-2" / "real", "radix+flex", engine_kind="vllm")
    run.request("a0")
    run.round(("a0", 48))
    run.write()


def sample(root):
    """The recordings that come with the project."""
    shutil.copytree(ROOT / "sample_runs" / "demo", root / "demo")


RUNS = {
    "empty": builders.empty_run,
    "one round": builders.one_round_run,
    "tiny pair": builders.tiny_pair,
    "sample": sample,
    "incomplete": builders.incomplete_run,
    "simulated": simulated_and_real,
    "broken": broken_and_whole,
    "sampled": sampled_run,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a function that gives the folder of a kind of runs, which is written once: pages change nothing."""
    folders = {}

    def folder(write):
        if write not in folders:
            folders[write] = tmp_path_factory.mktemp("runs")
            write(folders[write])
        return folders[write]

    return folder


def real_and_complete(root):
    """One arm of the real engine, about which nothing is to be said."""
    run = builders.RunBuilder(root / "run", "radix", engine_kind="vllm")
    run.request("a0")
    run.round(("a0", 48))
    run.write()


def go(app: AppTest, page: str) -> AppTest:
    """Open a page by its address, as a link does."""
    return (app if page == "overview" else app.switch_page(f"pages/{page}.py")).run()


def figures(app: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def texts(app: AppTest) -> str:
    return "\n".join(
        str(each.value) for kind in ("markdown", "caption", "warning", "error", "info") for each in app.get(kind)
    )


def test_every_page_is_listed_and_every_listed_page_is_there():
    assert set(PAGES) == {path.stem for path in (ROOT / "app" / "pages").glob("*.py")}
    assert len(set(PAGES.values())) == len(PAGES) >= 13


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("kind", RUNS)
def test_a_page_opens(written, open_app, page, kind):
    app = go(open_app(written(RUNS[kind])), page)
    assert not app.exception
    assert [title.value for title in app.title] == [PAGES[page]]


@pytest.mark.parametrize("page", PAGES)
def test_simulated_and_incomplete_runs_are_marked_on_every_page(written, open_app, page):
    app = go(open_app(written(builders.incomplete_run)), page)
    warnings = "\n".join(warning.value for warning in app.warning)
    assert "incomplete is incomplete" in warnings and "was simulated" in warnings


@pytest.mark.parametrize("page", PAGES)
def test_a_sample_is_marked_on_every_page(written, open_app, page):
    app = go(open_app(written(sampled_run)), page)
    warnings = "\n".join(warning.value for warning in app.warning).replace("\\", "")
    assert not app.exception and "keeps a sample of 25.0 % of its rounds" in warnings


@pytest.mark.parametrize("page", PAGES)
def test_a_real_and_complete_run_is_not_marked(written, open_app, page):
    """The control arm of the test above."""
    assert not go(open_app(written(real_and_complete)), page).warning


def test_the_overview_shows_five_numbers_an_arm_with_differences(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path).run()
    shown = [(metric.label, metric.value, metric.delta) for metric in app.metric]
    assert shown[0] == ("Rounds", "6", "") and shown[5] == ("Rounds", "4", "-2")
    assert shown[2] == ("Avoidable rows", "3", "") and shown[7] == ("Avoidable rows", "0", "-3")
    assert shown[9][2] == "no difference"
    assert len(shown) == 10 and all(metric.help for metric in app.metric)
    assert "radix left 3 rows unused although work was READY, in 3 of 6 rounds\\." in texts(app)


def test_the_overview_says_what_is_wrong_with_a_broken_run(tmp_path, open_app):
    builders.broken_run(tmp_path)
    app = open_app(tmp_path).run()
    assert any("left out, because unreadable" in error.value for error in app.error)
    assert not app.success
    assert "visits" in app.dataframe[0].value.to_string()


def test_the_overview_says_when_nothing_is_wrong(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path).run()
    assert [success.value[:14] for success in app.success] == ["Nothing found:"]


def test_the_timeline_asks_only_for_its_window(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = go(open_app(tmp_path), "timeline")
    assert "in 3 of 6 rounds" in texts(app)
    app.segmented_control(key="axis").set_value("round").run()
    app.number_input(key="from").set_value(2.6)
    app.number_input(key="to").set_value(4.4).run()
    assert "radix left 1 row unused although work was READY, in 1 of 2 rounds\\." in texts(app)
    app.button[2].click().run()
    assert "in 3 of 6 rounds" in texts(app) and not app.exception


def test_the_buttons_go_from_bubble_to_bubble(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = go(open_app(tmp_path), "timeline")
    app.segmented_control(key="axis").set_value("round").run()
    app.number_input(key="from").set_value(0.5)
    app.number_input(key="to").set_value(1.5).run()
    app.button[1].click().run()
    assert (app.number_input(key="from").value, app.number_input(key="to").value) == (1.5, 2.5)
    app.button[1].click().run()
    assert (app.number_input(key="from").value, app.number_input(key="to").value) == (3.5, 4.5)
    app.button[0].click().run()
    assert (app.number_input(key="from").value, app.number_input(key="to").value) == (1.5, 2.5)


def test_a_link_opens_the_same_view(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path)
    app.query_params["arms"] = "radixflow-immediate"
    app.run()
    assert app.multiselect(key="arms").value == ["radixflow-immediate"]
    assert app.metric[0].value == "4"


def test_an_address_opens_nothing_outside_the_folder(tmp_path, open_app):
    builders.tiny_pair(tmp_path / "runs")
    secret = builders.prefix_stop_run(tmp_path / "elsewhere" / "secret")
    app = open_app(tmp_path / "runs")
    app.query_params["arms"] = str(secret)
    app.query_params["stream"] = "../../elsewhere"
    app.run()
    assert not app.exception
    assert app.multiselect(key="arms").options == ["radix", "radixflow-immediate"]
    assert app.selectbox(key="stream").value == "tiny / figure-2"


def test_figures_of_a_page_are_those_of_the_runs(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    first = figures(go(open_app(tmp_path), "round_fullness"))[0]
    assert first["data"][0]["y"] == [1, 1, 2, 1, 2, 1]


def test_compare_needs_two_runs_of_one_stream(tmp_path, open_app):
    builders.one_round_run(tmp_path)
    app = go(open_app(tmp_path), "compare")
    assert any("Two runs over the same offered stream are needed" in caption.value for caption in app.caption)


def test_compare_shows_the_numbers_of_both_arms(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = go(open_app(tmp_path), "compare")
    table = app.dataframe[0].value
    rounds = table[table.iloc[:, 0] == "Rounds"].iloc[0].to_list()
    assert rounds[:4] == ["Rounds", "6", "4", "−2"]


def test_without_any_run_the_app_says_what_to_do(tmp_path, open_app, monkeypatch):
    monkeypatch.setattr("radixflow.app.components.frame.runs_folder.SAMPLE_RUNS", tmp_path / "none")
    app = open_app(tmp_path).run()
    assert not app.exception
    assert [title.value for title in app.title] == ["No recording yet"]
    assert "radixflow-collect" in app.code[0].value


def test_without_runs_of_ones_own_the_samples_are_opened_and_it_says_so(tmp_path, open_app, monkeypatch):
    builders.tiny_pair(tmp_path / "samples")
    monkeypatch.setattr("radixflow.app.components.frame.runs_folder.SAMPLE_RUNS", tmp_path / "samples")
    app = open_app(tmp_path / "mine").run()
    assert not app.exception and app.metric
    assert any("These are the sample recordings" in info.value for info in app.sidebar.info)


def test_a_run_of_a_future_format_is_named_and_the_others_open(tmp_path, open_app):
    builders.broken_run(tmp_path, "future_version")
    builders.one_round_run(tmp_path)
    app = open_app(tmp_path).run()
    assert not app.exception and app.metric
    assert any("99" in warning.value for warning in app.sidebar.warning)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_run_says_cannot_format_or_script_a_page(tmp_path, open_app, page):
    hostile = "<script>alert(1)</script>**bold** [x](javascript:alert(1)) :material/home: $x$"
    run = builders.RunBuilder(tmp_path / "run", "radix", engine_kind="vllm", stream=hostile)
    run.manifest.model["name"] = hostile
    run.request(hostile)
    run.request("b")
    run.round((hostile, 48), visits=(builders.blocked("b", hostile),), stop="blocked", stop_request="b")
    run.round(("b", 48))
    run.write()
    app = go(open_app(tmp_path), page)
    assert not app.exception
    shown = [each.value for kind in ("markdown", "caption", "warning") for each in app.get(kind)]
    assert not any("<script" in text.replace("\\<", "") or "**bold**" in text for text in shown)
    for chart in app.get("plotly_chart"):
        assert "<script" not in chart.proto.spec
