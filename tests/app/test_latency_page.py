"""The page of latencies: which latency it shows is kept in the address."""

import pyarrow as pa

from radixflow.app.sentences.latency import latency_sentence, shown_sentence, split_sentence
from tests import builders
from tests.app.test_pages import figures, go, texts


def test_the_page_says_medians_tails_and_what_was_waiting(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    said = texts(go(open_app(tmp_path), "latency")).replace("\\", "")
    assert "Branches, sent to completed: radix takes 450 ns at the median and 665 ns at the 95th percentile" in said
    assert "radix spends 67.6 % of the latency of its branches waiting: 312 ns of 462 ns on average." in said


def test_a_link_opens_the_same_latency(tmp_path, open_app):
    builders.tiny_pair(tmp_path)
    app = open_app(tmp_path)
    app.query_params["subject"] = "Request groups"
    app.query_params["interval"] = "Due to completed"
    page = go(app, "latency")
    assert "Request groups, due to completed: radix takes" in texts(page).replace("\\", "")
    assert figures(page)[0]["layout"]["xaxis"]["title"]["text"] == "Due to completed (ms)"


def test_what_was_not_measured_is_said_to_be():
    nothing = pa.table({"num_values": pa.array([], pa.int64())})
    assert latency_sentence(nothing, "branch", "sent_to_first_output") == (
        "Branches, sent to first output: not measured."
    )
    assert "not measured" in split_sentence(nothing)


def test_a_part_of_the_requests_is_called_a_part():
    parts = pa.table({"run": [0, 0, 1]})
    assert shown_sentence(parts, 2).startswith("Of long runs 2 requests are shown")
    assert shown_sentence(parts, 3) == ""
