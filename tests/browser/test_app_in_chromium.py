"""The app in a real browser: drawn, moved with mouse and keys, silent on the network."""

import re

import pyarrow.parquet
import pytest

from radixflow.app.report.cli import main
from tests import builders
from tests.browser.conftest import ROOT, SCREENSHOTS, running_app, watch
from tests.page_list import listed_pages

pytestmark = pytest.mark.browser

PAGES = listed_pages()
MARKS = ".radixflow-timeline .barlayer .point path"
ARROWS = ".radixflow-timeline .scatterlayer path.point"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of the app on the sample recordings, or on a tiny pair where none are shipped."""
    folder = tmp_path_factory.mktemp("browser")
    runs = ROOT / "sample_runs"
    if not list(runs.rglob("manifest.json")):
        runs = folder / "runs"
        builders.tiny_pair(runs)
    with running_app(runs, folder / "streamlit.log") as started:
        yield started


def open_page(browser, address, theme="light"):
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(60_000)
    return page, watch(page, address)


def settled(page) -> None:
    """Wait until the app has nothing to do and every figure is drawn."""
    page.wait_for_selector("h1")
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_function("[...document.querySelectorAll('.js-plotly-plot')].every(e => e.querySelector('.main-svg'))")
    page.wait_for_timeout(400)


def go(page, name) -> None:
    link, title = PAGES[name]
    page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile(f"^.*{link}$")).click()
    page.locator("h1", has_text=title).wait_for()
    settled(page)


def visible_range(page) -> list[float]:
    return page.eval_on_selector(".radixflow-timeline", "e => e.layout.xaxis.range.map(Number)")


def wait_for_range(page, expected: list[float]) -> None:
    page.wait_for_function(
        "r => { const x = document.querySelector('.radixflow-timeline').layout.xaxis.range.map(Number); "
        "return Math.abs(x[0] - r[0]) + Math.abs(x[1] - r[1]) < 1e-3 * (r[1] - r[0]) }", arg=expected
    )  # fmt: skip
    page.wait_for_timeout(300)


def click_first_cell(page) -> None:
    """Click the first cell of the first raster; Plotly takes a click for the mark that it has seen hovered."""
    cell = page.locator(".radixflow-timeline .barlayer .trace").first.locator(".point").first.bounding_box()
    page.mouse.move(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
    page.locator(".radixflow-timeline .hoverlayer .hovertext").first.wait_for()
    page.mouse.down()
    page.mouse.up()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_pages_open_without_an_error_and_without_the_network(browser, address, theme):
    page, seen = open_page(browser, address, theme)
    SCREENSHOTS.mkdir(exist_ok=True)
    page.goto(address)
    settled(page)
    for name in PAGES:
        go(page, name)
        assert page.get_by_test_id("stException").count() == 0
        assert page.get_by_text("Share chart").count() == 0
        page.screenshot(path=SCREENSHOTS / f"{name}-{theme}.png")
    assert (seen.foreign_requests, seen.failures) == ([], [])
    page.context.close()


def test_a_request_that_leaves_the_machine_would_be_seen(browser, address):
    """The control arm of the test above; the name cannot be resolved, so nothing leaves."""
    page, seen = open_page(browser, address)
    page.goto(address)
    settled(page)
    page.evaluate("fetch('https://nowhere.invalid/').catch(() => 0)")
    page.wait_for_timeout(500)
    assert seen.foreign_requests == ["https://nowhere.invalid/"] and seen.failures
    page.context.close()


def test_the_timeline_is_drawn_and_follows_mouse_keys_and_links(browser, address):
    page, seen = open_page(browser, address)
    page.goto(f"{address}/timeline")
    page.wait_for_selector(MARKS, state="attached")
    settled(page)
    assert 0 < page.locator(MARKS).count() <= 4000
    whole = visible_range(page)

    box = page.locator(".radixflow-timeline").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 150)
    for _ in range(5):
        page.mouse.wheel(0, -500)
    page.wait_for_url(re.compile("from="))
    settled(page)
    zoomed = visible_range(page)
    assert zoomed[1] - zoomed[0] < 0.9 * (whole[1] - whole[0])

    page.keyboard.press("w")
    page.wait_for_function("r => { const x = document.querySelector('.radixflow-timeline').layout.xaxis.range; "
                           "return x[1] - x[0] < 0.6 * (r[1] - r[0]) }", arg=zoomed)  # fmt: skip
    page.wait_for_timeout(1500)
    settled(page)
    link, before = page.url, visible_range(page)

    second, _ = open_page(browser, address)
    second.goto(link)
    second.wait_for_selector(MARKS, state="attached")
    settled(second)
    assert visible_range(second) == pytest.approx(before, rel=1e-3, abs=1e-3 * (before[1] - before[0]))
    second.context.close()

    page.keyboard.press("f")
    page.wait_for_function("!location.search.includes('from=')")
    settled(page)
    assert visible_range(page) == pytest.approx(whole)
    assert (seen.foreign_requests, seen.failures) == ([], [])
    page.context.close()


def test_keys_and_the_mouse_select_on_the_timeline_and_the_address_keeps_it(browser, address):
    page, seen = open_page(browser, address)
    page.goto(f"{address}/timeline")
    page.wait_for_selector(MARKS, state="attached")
    settled(page)
    assert page.locator(ARROWS).count() == 0
    whole = visible_range(page)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Find a request"
    page.keyboard.type("q00010-b1")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("request=q00010-b1.*from=|from=.*request=q00010-b1"))
    page.locator(ARROWS).first.wait_for(state="attached")
    settled(page)
    searched = visible_range(page)

    second, _ = open_page(browser, address)
    second.goto(page.url)
    second.locator(ARROWS).first.wait_for(state="attached")
    settled(second)
    assert visible_range(second) == pytest.approx(searched, rel=1e-3)
    second.context.close()

    # what is typed is no command
    page.get_by_label("Find a request").fill("wwww")
    assert visible_range(page) == pytest.approx(searched)
    page.get_by_label("Find a request").fill("")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "request" not in url)
    page.get_by_role("button", name="Whole run").click()
    page.wait_for_url(lambda url: "from" not in url)
    settled(page)
    wait_for_range(page, whole)
    page.keyboard.down("Shift")
    click_first_cell(page)
    page.keyboard.up("Shift")
    page.wait_for_url(re.compile("round=[0-9]+"))
    settled(page)
    # a click has taken the focus from the search, so keys move the timeline again
    page.keyboard.press("w")
    page.wait_for_url(re.compile("from="))
    settled(page)
    assert visible_range(page)[1] - visible_range(page)[0] < 0.6 * (whole[1] - whole[0])
    assert (seen.foreign_requests, seen.failures) == ([], [])
    page.context.close()


def test_the_mouse_goes_from_the_whole_run_to_one_round_and_opens_it(browser, address):
    page, seen = open_page(browser, address)
    page.goto(f"{address}/timeline?arms=radix")
    page.wait_for_selector(MARKS, state="attached")
    settled(page)
    whole = visible_range(page)
    cell = page.locator(".radixflow-timeline .barlayer .trace").first.locator(".point").nth(4).bounding_box()
    page.mouse.move(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
    for _ in range(60):
        if page.get_by_text(re.compile(r", in (1 of )?1 round\.$")).count():
            break
        page.mouse.wheel(0, -300)
        page.wait_for_timeout(250)
    settled(page)
    assert visible_range(page)[1] - visible_range(page)[0] < 0.1 * (whole[1] - whole[0])
    assert page.locator(MARKS).count() <= 4000

    link = page.url
    second, _ = open_page(browser, address)
    second.goto(link)
    second.wait_for_selector(MARKS, state="attached")
    settled(second)
    near = visible_range(page)
    assert visible_range(second) == pytest.approx(near, rel=1e-3, abs=1e-3 * (near[1] - near[0]))
    second.context.close()

    page.locator(".radixflow-timeline .hoverlayer .hovertext").first.wait_for()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url(re.compile(r"/round\?.*round=[0-9]+"))
    page.locator("h1", has_text="Round").wait_for()
    settled(page)
    number = re.search(r"round=(\d+)", page.url)[1]
    assert page.get_by_text(re.compile(f"^Round {number} of radix ")).count() == 1
    assert (seen.foreign_requests, seen.failures) == ([], [])
    page.context.close()


def test_a_figure_and_its_table_are_saved(browser, address, tmp_path):
    page, seen = open_page(browser, address)
    page.goto(f"{address}/round_fullness")
    settled(page)
    saved = {}
    for label in ("Figure as PNG", "Figure as SVG", "Table as CSV", "Table as Parquet"):
        if not page.get_by_role("button", name=label).count():
            page.get_by_role("button", name="Save").first.click()
        with page.expect_download() as download:
            page.get_by_role("button", name=label).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[path.suffix] = path
    assert saved[".png"].read_bytes().startswith(b"\x89PNG") and saved[".png"].stat().st_size > 10_000
    assert "<svg" in saved[".svg"].read_text()[:200] and "Rows a round" in saved[".svg"].read_text()
    assert saved[".csv"].read_text().startswith('"series","x_axis","x"')
    assert pyarrow.parquet.read_table(saved[".parquet"]).num_rows == saved[".csv"].read_text().count("\n") - 1
    assert (seen.foreign_requests, seen.failures) == ([], [])
    page.context.close()


HOSTILE = (
    "<img src=x onerror='window.hacked=1'><script>window.hacked=1</script>**b** [x](javascript:alert`1`) $x$ :smile:"
)


def test_names_from_a_run_run_nothing_and_format_nothing(browser, tmp_path):
    """A request, a stream and a model with such a name, on every page; the control arm shows that it would run."""
    run = builders.RunBuilder(tmp_path / "runs" / "run", "radix", engine_kind="vllm", stream=HOSTILE)
    run.manifest.model["name"] = HOSTILE
    run.request(HOSTILE)
    run.request("b")
    run.round((HOSTILE, 48), visits=(builders.blocked("b", HOSTILE),), stop="blocked", stop_request="b")
    run.round(("b", 48))
    run.write()
    with running_app(tmp_path / "runs", tmp_path / "streamlit.log") as address:
        page, seen = open_page(browser, address)
        for name in PAGES:
            page.goto(f"{address}/{'' if name == 'overview' else name}")
            settled(page)
            assert page.get_by_test_id("stException").count() == 0
            assert page.evaluate("window.hacked === undefined && !document.querySelector('img[src=x]')"), name
            assert page.locator("a[href^=javascript]").count() == 0
        assert (seen.foreign_requests, seen.failures) == ([], [])
        page.evaluate("html => { document.body.insertAdjacentHTML('beforeend', html) }", HOSTILE)
        page.wait_for_function("window.hacked === 1")
        page.context.close()


def test_a_link_is_the_first_visit_of_a_fresh_server(browser, tmp_path):
    """Streamlit runs such a page without ``main.py``, because its folder is called ``pages``."""
    builders.tiny_pair(tmp_path / "runs")
    log = tmp_path / "streamlit.log"
    with running_app(tmp_path / "runs", log) as address:
        page, seen = open_page(browser, address)
        page.goto(f"{address}/timeline?axis=Round+number&from=2.5&to=4.5")
        page.wait_for_selector(MARKS, state="attached")
        settled(page)
        assert visible_range(page) == pytest.approx([2.5, 4.5])
        assert page.get_by_test_id("stSidebarNavLink").count() == len(PAGES)
        assert page.get_by_text("radix left 1 row unused although work was READY, in 1 of 2 rounds.").count() == 1
        assert (seen.foreign_requests, seen.failures) == ([], [])
        page.context.close()
    assert "usage statistics" not in log.read_text()


def test_hovering_names_the_request(browser, address):
    page, _ = open_page(browser, address)
    page.goto(f"{address}/timeline")
    page.wait_for_selector(MARKS, state="attached")
    settled(page)
    used = page.locator(".radixflow-timeline .barlayer .trace").first.locator(".point").first.bounding_box()
    page.mouse.move(used["x"] + used["width"] / 2, used["y"] + used["height"] / 2)
    page.locator(".radixflow-timeline .hoverlayer .hovertext").first.wait_for()
    assert "round" in page.locator(".radixflow-timeline .hoverlayer").text_content()
    page.context.close()


def test_a_report_opens_offline_and_draws_every_figure(browser, tmp_path):
    pair = builders.tiny_pair(tmp_path / "runs")
    assert main([*map(str, pair), "-o", str(tmp_path / "report.html")]) == 0
    for theme in ("light", "dark"):
        page, seen = open_page(browser, "file://", theme)
        page.goto(f"file://{tmp_path}/report.html")
        page.wait_for_selector("#section-2 .barlayer .point")
        drawn = page.evaluate("[...document.querySelectorAll('.figure')].map(e => !!e.querySelector('.main-svg'))")
        assert drawn and all(drawn)
        assert (seen.foreign_requests, seen.failures) == ([], [])
        SCREENSHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"report-{theme}.png")
        page.context.close()
