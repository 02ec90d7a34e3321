"""The page of the token ledger: where every token came from, and every interval that was computed again."""

import pyarrow as pa

from radixflow.app.figures.tokens.repeated_intervals import repeated_intervals
from radixflow.app.figures.tokens.repeated_tokens import repeated_tokens
from radixflow.app.figures.tokens.token_ledger import token_ledger
from radixflow.app.queries import run_facts, tokens
from radixflow.app.sentences.tokens import ledger_sentence, repeated_sentence
from radixflow.schema.reading.connection import open_runs
from tests import builders
from tests.app.test_pages import figures, go, texts


def repeating_run(path):
    """Every cause of repetition once: a1 beside a0, a2 after it, p0 again after a preemption; 48 prompt tokens each."""
    run = builders.RunBuilder(path, row_capacity=4, token_budget=512)
    for name in ("a0", "a1", "a2", "p0"):
        run.request(name)
    run.round(("a0", 48), ("a1", 48), ("p0", 32), finishes=True)
    run.round(("p0", 16), ("a2", 48), finishes=True)
    run.finish()
    rows, requests = run.rows_of["rows"], run.rows_of["requests"]
    for round_number, request in ((1, 1), (2, 2)):  # a0, a1 and a2 have the same content
        run.rows_of["repeated_blocks"].append({
            "round": round_number, "request": request, "begin_token": 0, "end_token": 48, "first_round": 1,
            "first_request": 0,
        })  # fmt: skip
    rows[3] |= {"kind": "resumed", "first_token": 16, "num_tokens": 32}
    requests[3] |= {"num_preemptions": 1, "num_repeated_tokens": 16, "num_scheduled_prompt_tokens": 64}
    requests[3]["num_scheduled_tokens"] = 64
    return run.write()


def test_the_bar_of_the_ledger_is_as_long_as_what_was_reused_and_scheduled(pair):
    figure = token_ledger(tokens.parts(pair))
    assert {trace.name: list(trace.x) for trace in figure.data} == {
        "Reused from the cache": [128, 128],
        "Computed": [256, 256],
    }


def test_repetitions_are_drawn_by_cause_and_place(tmp_path):
    with open_runs([repeating_run(tmp_path / "run")]) as connection:
        runs, parts = run_facts.runs(connection), tokens.parts(connection)
        by_cause = repeated_tokens(tokens.repeated_by_cause(connection), runs)
        intervals = repeated_intervals(tokens.repeated(connection, 0, 60))
        assert "16 of these again after a preemption. The ledger closes." in ledger_sentence(tokens.ledger(connection))
        assert "radix schedules 208 tokens; 53.8 % of them repeat known work" in repeated_sentence(
            tokens.ledger(connection)
        )
    again = next(trace for trace in token_ledger(parts).data if trace.name == "Computed again after a preemption")
    assert list(again.x) == [16]
    assert {trace.name: list(trace.x) for trace in by_cause.data} == {
        "Again after a preemption": [16],
        "Two requests in one round": [48],
        "Computed in an earlier round": [48],
    }
    places = {trace.y[0]: (trace.base[0], trace.x[0]) for trace in intervals.data}
    assert places == {"a1": (0, 48), "a2": (0, 48), "p0": (16, 16)}
    assert len({(trace.marker.pattern.shape, trace.marker.color) for trace in intervals.data}) == 3


def test_the_page_says_that_the_ledger_closes(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    page = go(open_app(tmp_path), "token_ledger")
    said = texts(page).replace("\\", "")
    assert "radix: of 384 prompt tokens 128 come from the cache, 256 are scheduled, 0 of these again" in said
    assert "Every ledger of a finished request closes." in said
    assert len(figures(page)) == 3


def test_a_ledger_that_does_not_close_is_said_not_to(tmp_path, open_app):
    run = builders.RunBuilder(tmp_path / "run", "radix")
    run.request("a0")
    run.round(("a0", 48))
    run.finish()
    run.rows_of["requests"][0]["num_scheduled_prompt_tokens"] = 40
    run.write()
    page = go(open_app(tmp_path), "token_ledger")
    assert "The ledger does not close: 8 tokens unexplained." in texts(page).replace("\\", "")
    assert "Request a0 has 48 prompt tokens, but its ledger explains 40." in page.dataframe[0].value.to_string()


def test_what_was_not_measured_is_said_to_be(pair):
    ledger = tokens.ledger(pair)
    assert "not measured" in ledger_sentence(ledger.slice(0, 0))
    unknown = pa.Table.from_pylist(
        [ledger.to_pylist()[0] | {"num_unexplained_tokens": None, "num_reused_tokens": None}]
    )
    assert "not measured come from the cache" in ledger_sentence(unknown)
    assert "cannot be said" in ledger_sentence(unknown)
