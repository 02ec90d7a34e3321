"""The pages of one round and of one request: what they say, how they move, and that a link opens the same."""

import pytest

from tests import builders
from tests.app.test_pages import figures, go, texts


def opened(app, page, **address):
    """A page opened by a link."""
    for name, value in address.items():
        app.query_params[name] = value
    return go(app, page)


def values(app):
    """What stands in the controls that the address keeps."""
    return {name: app.session_state[name] for name in ("round", "request") if name in app.session_state}


def clicked(app, label):
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


@pytest.fixture
def app(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    return open_app(tmp_path)


def test_without_an_address_the_round_with_the_most_avoidable_rows_is_shown(app):
    page = go(app, "round")
    assert values(page)["round"] == 1
    said = texts(page)
    assert "Round 1 of radix lasts 85\\.0 ns and fills 1 of 2 rows with 48 of 128 tokens\\." in said
    assert "1 row stays empty although work is READY" in said
    assert "it stops at a1: BLOCKED: a0 is writing its state" in said.replace("\\", "")
    assert "of 2 requests behind the stop 1 is READY, worth 1 row and 48 tokens more" in said.replace("\\", "")


def test_a_link_opens_the_same_round(app):
    page = opened(app, "round", arm="radixflow-immediate", round="2")
    assert values(page)["round"] == 2
    said = texts(page).replace("\\", "")
    assert "Round 2 of radixflow-immediate" in said and "No row stays empty while work is READY." in said


def test_the_buttons_of_a_round_go_to_its_neighbours(app):
    page = opened(app, "round", arm="radix", round="2")
    assert values(clicked(page, "Next bubble"))["round"] == 4
    assert values(clicked(page, "Next round"))["round"] == 5
    assert values(clicked(page, "Previous bubble"))["round"] == 4
    assert values(clicked(page, "Previous round"))["round"] == 3
    page.number_input(key="round").set_value(6).run()
    ends = {button.label: button.disabled for button in page.button}
    assert ends == {"Previous bubble": False, "Previous round": False, "Next round": True, "Next bubble": True}


def test_a_round_that_is_not_there_is_said_to_be_missing(app):
    page = opened(app, "round", round="99")
    assert not page.exception and not figures(page)
    assert "radix has no round 99. Its rounds go from 1 to 6." in texts(page).replace("\\", "")


def test_without_the_probe_nobody_claims_what_lay_behind_the_stop(tmp_path, open_app):
    run = builders.RunBuilder(tmp_path / "run", "radix", probe="off")
    run.request("a0")
    run.request("a1")
    run.round(("a0", 48), visits=(builders.blocked("a1", "a0"),), stop="blocked", stop_request="a1")
    run.write()
    said = texts(go(open_app(tmp_path), "round")).replace("\\", "")
    assert "avoidable is not measured" in said and "behind the stop is not measured" in said


def test_without_an_address_the_request_that_waited_longest_is_shown(app):
    page = go(app, "request")
    assert values(page)["request"] == "d0"
    assert "d0 of radix waits 550 ns of its 700 ns." in texts(page).replace("\\", "")


def test_a_link_opens_the_same_request(app):
    page = opened(app, "request", arm="radix", request="a2")
    assert values(page)["request"] == "a2"
    said = texts(page).replace("\\", "")
    assert "a2 of radix waits 250 ns of its 400 ns. 2 rounds find it BLOCKED." in said
    assert "Round 3 selects it and reuses 32 of its 48 prompt tokens." in said
    assert "2 rounds began while it waited. No later arrivals came first." in said


def test_who_came_first_though_later_is_named(app):
    page = opened(app, "request", arm="radixflow-immediate", request="a2")
    assert "2 rounds began while it waited. 2 later arrivals came first." in texts(page).replace("\\", "")
    assert any(list(table.value.iloc[:, 0]) == ["b0", "b1"] for table in page.dataframe)


def test_the_buttons_of_a_request_follow_the_order_of_registration(app):
    page = opened(app, "request", arm="radix", request="a2")
    assert values(clicked(page, "Next request"))["request"] == "b0"
    assert values(clicked(page, "Previous request"))["request"] == "a2"
    assert values(clicked(page, "Previous request"))["request"] == "a1"


def test_a_part_of_a_name_offers_the_names_that_hold_it(app):
    page = opened(app, "request", request="A")
    assert "radix has no request called A. 3 names like it:" in texts(page).replace("\\", "")
    assert values(clicked(page, "a1"))["request"] == "a1"
    assert "a1 of radix waits" in texts(page)


def test_a_request_that_the_engine_never_saw_is_shown_all_the_same(tmp_path, open_app):
    run = builders.RunBuilder(tmp_path / "run", "radix")
    run.rejected("long")
    run.write()
    page = opened(open_app(tmp_path), "request", request="long")
    said = texts(page).replace("\\", "")
    assert not page.exception
    assert "long of radix was never sent." in said
    assert "Outcome: rejected: The prompt is longer than the model allows." in said


def test_what_an_unobserved_engine_did_with_a_request_is_not_claimed(tmp_path, open_app):
    run = builders.RunBuilder(tmp_path / "run", "stock")
    run.request("a0", outcome="completed", completed_ns=1600)
    run.finish()
    run.rows_of["requests"] = []
    run.write()
    said = texts(opened(open_app(tmp_path), "request", request="a0")).replace("\\", "")
    assert "a0 of stock was sent; what the engine did is not measured." in said
    assert "Whether later arrivals came first is not measured." in said
