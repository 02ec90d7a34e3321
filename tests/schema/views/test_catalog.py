"""Every view and every column says what it is, in which unit; the names that others read are there."""

import re

import pytest

from radixflow.schema.reading.view_descriptions import describe
from radixflow.schema.tables import ALL_TABLES
from radixflow.schema.views.catalog import comments, dependencies, view_sources

UNITS = {
    "", "ns", "ms", "rows", "tokens", "rounds", "requests", "visits", "blocks", "steps", "fraction", "faults",
    "preemptions", "groups", "groups/s", "requests/s", "replicates", "differences", "runs", "streams", "orders",
    "repeats", "token pairs", "ratio", "intervals", "states", "stalls",
}  # fmt: skip
READ_BY_OTHERS = {
    "runs": "run label policy policy_effective experiment stream state engine_kind model_name is_hybrid block_size "
    "row_capacity token_budget num_requests workload_digest seed vllm_version created_utc command hardware device "
    "num_faults num_drops probe",
    "run_summary": "run label num_rounds num_empty_steps rows_per_round tokens_per_round row_fullness_fraction "
    "token_fullness_fraction num_requests_finished num_scheduled_tokens num_reused_tokens num_prompt_tokens "
    "reused_fraction num_blocked_visits num_blocked_requests num_recovered_requests rows_avoidable tokens_avoidable "
    "num_bubble_rounds bubble_round_fraction mean_latency_ms p50_latency_ms p95_latency_ms mean_group_latency_ms "
    "duration_ms mean_round_ms",
    "round_times": "run round start_ns end_ns start_ms end_ms duration_ms schedule_ms execute_ms gap_before_ms",
    "round_occupancy": "run round start_ms end_ms row_capacity rows_used rows_avoidable rows_dependency_wait rows_held "
    "rows_token_limited rows_other rows_no_work row_fullness_fraction token_budget tokens_scheduled tokens_avoidable "
    "token_fullness_fraction num_visits num_blocked_visits num_probed stop_reason stop_request_id num_waiting_before "
    "num_waiting_after num_held num_free_blocks",
    "slot_cells": "run round slot slot_class start_ms end_ms request request_id request_group num_tokens "
    "num_reused_tokens kind producer_request_id cause reason published_round",
    "request_lives": "run request request_id request_group branch dataset num_prompt_tokens num_reused_tokens "
    "num_scheduled_tokens num_repeated_tokens num_output_tokens offered_ms sent_ms registered_ms first_selected_ms "
    "finished_ms completed_ms waiting_ms latency_ms num_blocked_visits num_rows outcome first_token_id",
    "group_lives": "run request_group num_branches latency_ms offered_latency_ms",
    "blocked_visits": "run round start_ms visit request_id request_group witness cause producer_request_id "
    "published_round matched_tokens ready_tokens num_tokens_lost",
    "stop_reasons": "run label stop_reason num_rounds rows_avoidable",
    "paired_requests": "run_a run_b request_id request_group latency_ms_a latency_ms_b latency_difference_ms "
    "first_token_agrees num_reused_tokens_a num_reused_tokens_b",
    "paired_summary": "run_a run_b label_a label_b num_pairs rounds_difference mean_latency_difference_ms "
    "first_token_agreement_fraction num_first_token_disagreements reused_tokens_difference scheduled_tokens_difference",
    "ledger_faults": "run ledger round request sentence",
    "segment_faults": "run table_name file_name sentence",
}


@pytest.fixture(scope="module")
def views():
    return {view.name: view for view in describe()}


@pytest.mark.parametrize("name", view_sources())
def test_a_view_and_all_its_columns_are_commented(views, name):
    view = views[name]
    assert len(view.description) > 20
    for column in view.columns:
        assert column.text.endswith(".") and len(column.text) > 3, (name, column)
        assert column.unit in UNITS, (name, column)
        commented = re.search(rf"COMMENT ON COLUMN {name}\.{column.name} IS '\[", view_sources()[name])
        assert commented, f"{name}.{column.name} has no comment with a unit"


@pytest.mark.parametrize("name", view_sources())
def test_comments_are_read_as_the_database_stores_them(views, name):
    view = views[name]
    expected = {column.name: (column.unit, column.text) for column in view.columns}
    assert comments(name) == {"": ("", view.description), **expected}
    assert list(comments(name))[1:] == [column.name for column in view.columns]


@pytest.mark.parametrize("name", view_sources())
def test_units_follow_the_names_of_columns(views, name):
    for column in views[name].columns:
        if column.name.endswith("_fraction"):
            assert column.unit == "fraction", column
        elif re.search(r"_ms(_[ab])?$", column.name):
            assert column.unit == "ms" and column.type == "DOUBLE", column
        elif column.name.endswith("_ns"):
            assert column.unit == "ns" and column.type == "BIGINT", column
        elif column.name.startswith(("num_", "rows_", "tokens_")):
            assert column.unit not in ("", "ms", "ns"), column


@pytest.mark.parametrize("name", READ_BY_OTHERS)
def test_the_columns_that_others_read_are_there(views, name):
    missing = set(READ_BY_OTHERS[name].split()) - {column.name for column in views[name].columns}
    assert not missing


@pytest.mark.parametrize("name", view_sources())
def test_the_header_names_exactly_what_the_view_reads(name):
    sql = view_sources()[name]
    body = sql[sql.index("CREATE VIEW") : sql.index("COMMENT ON")]
    known = {*ALL_TABLES, *view_sources(), "opened_runs", "opened_facts", "opened_faults"}
    read = {word for word in re.findall(r"(?:FROM|JOIN) (\w+)", body) if word in known}
    assert set(dependencies(sql)) == read
    assert sql.startswith("-- ") and f"CREATE VIEW {name} AS" in sql


def test_a_view_comes_after_those_that_it_reads():
    seen = set()
    for name, sql in view_sources().items():
        assert {each for each in dependencies(sql) if each in view_sources()} <= seen
        seen.add(name)
