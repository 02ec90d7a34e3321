"""From a round to a request and back by clicking, and the same again by a link, in a real browser."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from tests import builders
from tests.browser.conftest import running_app
from tests.browser.test_app_in_chromium import open_page, settled

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of the app on a tiny pair, whose rounds and requests are known."""
    folder = tmp_path_factory.mktemp("lens")
    builders.tiny_pair(folder / "runs")
    with running_app(folder / "runs", folder / "streamlit.log") as started:
        yield started


def asked(page) -> dict[str, str]:
    """What the address of a page asks for."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def click_mark(page, figure: str, trace: str) -> None:
    """Click the first bar of a trace of a figure, where the mouse must rest first as a person's would."""
    chart = page.locator(f".st-key-figure_{figure}")
    chart.scroll_into_view_if_needed()
    place = chart.locator(".js-plotly-plot").evaluate("(e, n) => e._fullData.findIndex(t => t.name === n)", trace)
    bars = chart.locator(".barlayer .trace")
    drawn = chart.locator(".js-plotly-plot").evaluate(
        "(e, i) => e._fullData.slice(0, i).filter(t => t.type === 'bar').length", place
    )
    box = bars.nth(drawn).locator(".point path").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 - 3, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    chart.locator(".hoverlayer .hovertext").first.wait_for()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_a_click_leads_from_the_round_to_the_request_and_back(browser, address):
    page, seen = open_page(browser, address)
    page.goto(f"{address}/round?arm=radix&round=2")
    settled(page)
    click_mark(page, "round_scan", "READY behind the stop")
    page.wait_for_url(re.compile("/request"))
    page.get_by_text(re.compile("b0 of radix waits")).wait_for()
    settled(page)
    assert asked(page)["request"] == "b0"
    second, _ = open_page(browser, address)
    second.goto(page.url)
    second.get_by_text(re.compile("b0 of radix waits")).wait_for()
    second.context.close()

    click_mark(page, "request_life", "Scheduled")
    page.wait_for_url(re.compile("/round"))
    page.get_by_text(re.compile("Round 3 of radix")).wait_for()
    settled(page)
    assert asked(page)["round"] == "3"
    assert (seen.foreign_requests, seen.failures) == ([], [])
    page.context.close()


def test_what_the_buttons_reached_is_in_the_address(browser, address):
    page, seen = open_page(browser, address)
    page.goto(f"{address}/round?arm=radix&round=2")
    settled(page)
    page.get_by_role("button", name="Next bubble").click()
    page.get_by_text(re.compile("Round 4 of radix")).wait_for()
    settled(page)
    link = page.url
    assert asked(page)["round"] == "4"
    page.keyboard.press("ArrowRight")
    page.get_by_text(re.compile("Round 5 of radix")).wait_for()

    second, _ = open_page(browser, address)
    second.goto(link)
    second.get_by_text(re.compile("Round 4 of radix")).wait_for()
    second.context.close()
    assert (seen.foreign_requests, seen.failures) == ([], [])
    page.context.close()
