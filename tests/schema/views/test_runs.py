"""Views of whole runs and of pairs, by value."""
# ruff: noqa: E501 (expected tables are as wide as they are)

import json

import pytest

from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.manifest import read_manifest, write_manifest
from tests import builders


def test_runs(pair, expect):
    expect(
        pair,
        "runs",
        """
        run label               policy              policy_effective    experiment stream   state    engine_kind model_name
        0   radix               radix               radix               tiny       figure-2 complete simulated   tiny-hybrid
        1   radixflow-immediate radixflow-immediate radixflow-immediate tiny       figure-2 complete simulated   tiny-hybrid
        """,
    )
    expect(
        pair,
        "runs LIMIT 1",
        """
        is_hybrid block_size row_capacity token_budget num_requests seed vllm_version created_utc              device
        True      16         2            128          8            1    0.32.0       2026-01-01T00:00:00.000Z cpu
        """,
    )
    expect(
        pair,
        "runs LIMIT 1",
        """
        command                                               hardware             num_faults num_drops probe   is_observed origin_ns
        radixflow-collect_--model_tiny-hybrid_--policy_radix  paper,_2_cores,_4_GiB 0          0         blocked True        1000
        """,
    )


def test_labels_are_as_short_as_they_can_be(tmp_path, expect):
    paths = []
    for number, (stream, policy) in enumerate([("s1", "radix"), ("s2", "radix"), ("s1", "flex"), ("s2", "radix")]):
        paths.append(builders.RunBuilder(tmp_path / str(number), policy, stream=stream).write())
    expect(
        open_runs(paths),
        "runs",
        """
        run label
        0   tiny/s1/radix
        1   tiny/s2/radix_#1
        2   flex
        3   tiny/s2/radix_#3
        """,
    )


def test_faults_and_drops_of_a_run_are_counted_once(tmp_path, expect):
    path = builders.broken_run(tmp_path, "truncated")
    manifest = read_manifest(path)
    manifest.faults, manifest.drops = ["engine stopped", "the client was late"], {"rows": 2}
    write_manifest(path, manifest)
    writer = path / "writers" / "engine.json"
    said = {"faults": ["engine stopped"], "drops": {"rows": 2, "visits": 1}}
    writer.write_text(json.dumps(json.loads(writer.read_text()) | said))
    expect(open_runs([path]), "runs", "num_faults num_drops\n3 3")


def test_run_summary(pair, expect):
    expect(
        pair,
        "run_summary",
        """
        run label               num_rounds num_empty_steps rows_per_round tokens_per_round row_fullness_fraction
        0   radix               6          0               1.33333        42.6667          0.666667
        1   radixflow-immediate 4          0               2              64               1
        """,
    )
    expect(
        pair,
        "run_summary",
        """
        token_fullness_fraction num_requests_finished num_scheduled_tokens num_reused_tokens num_prompt_tokens reused_fraction
        0.333333                8                     256                  128               384               0.333333
        0.5                     8                     256                  128               384               0.333333
        """,
    )
    expect(
        pair,
        "run_summary",
        """
        num_blocked_visits num_blocked_requests num_recovered_requests rows_avoidable tokens_avoidable num_bubble_rounds
        3                  3                    3                      3              144              3
        3                  2                    2                      0              0                0
        """,
    )
    expect(
        pair,
        "run_summary",
        """
        bubble_round_fraction mean_latency_ms p50_latency_ms p95_latency_ms mean_group_latency_ms duration_ms mean_round_ms
        0.5                   462.5           450            665            575                   590         87.5
        0                     350             350            500            450                   390         90
        """,
    )


def test_empty_steps_are_no_rounds(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.round(("a0", 16), num_empty_steps=2)
    run.round(("a0", 32), num_empty_steps=3)
    expect(open_runs([run.write()]), "run_summary", "num_rounds num_empty_steps rows_per_round\n2 5 1")


def test_a_run_without_work_has_counts_of_0_and_no_means(tmp_path, expect):
    expect(
        open_runs([builders.empty_run(tmp_path)]),
        "run_summary",
        """
        num_rounds rows_per_round row_fullness_fraction num_prompt_tokens reused_fraction rows_avoidable bubble_round_fraction duration_ms
        0          -              -                     0                 -               0              -                     -
        """,
    )


def test_an_engine_that_nobody_observed_has_no_counts_but_its_client_has(tmp_path, expect):
    prefix_stop, _ = builders.tiny_pair(tmp_path)
    for table in ("rounds", "rows", "visits", "requests", "events", "spans"):
        for segment in (prefix_stop / table).glob("*.parquet"):
            segment.unlink()
    (prefix_stop / "writers" / "engine.json").unlink()
    connection = open_runs([prefix_stop, builders.state_ready_run(tmp_path / "again")])
    expect(
        connection,
        "run_summary",
        """
        num_rounds num_scheduled_tokens num_blocked_visits rows_avoidable num_requests_finished mean_latency_ms
        -          -                    -                  -              -                     462.5
        4          256                  3                  0              8                     350
        """,
    )
    expect(
        connection,
        "paired_summary WHERE run_a = 0",
        """
        run_a run_b num_pairs rounds_difference rows_avoidable_difference mean_latency_difference_ms
        0     1     8         -                 -                         -112.5
        """,
    )


def test_paired_requests(pair, expect):
    expect(
        pair,
        "paired_requests WHERE run_a = 0 ORDER BY request_id",
        """
        run_a run_b request_id request_group latency_ms_a latency_ms_b latency_difference_ms first_token_agrees
        0     1     a0         0             200          200          0                     True
        0     1     a1         0             300          300          0                     True
        0     1     a2         0             400          400          0                     True
        0     1     b0         1             400          200          -200                  True
        0     1     b1         1             500          300          -200                  True
        0     1     b2         1             600          400          -200                  True
        0     1     c0         2             600          500          -100                  True
        0     1     d0         3             700          500          -200                  True
        """,
    )
    expect(
        pair,
        "paired_requests WHERE run_a = 1 ORDER BY request_id LIMIT 4",
        """
        run_a run_b request_id latency_difference_ms first_token_id_a first_token_id_b num_reused_tokens_a num_reused_tokens_b
        1     0     a0         0                     40               40               0                   0
        1     0     a1         0                     41               41               32                  32
        1     0     a2         0                     42               42               32                  32
        1     0     b0         200                   43               43               0                   0
        """,
    )


def test_paired_sums(pair, expect):
    expect(
        pair,
        "paired_sums ORDER BY run_a",
        """
        run_a run_b num_shared_requests num_pairs mean_latency_ms_a mean_latency_ms_b mean_latency_difference_ms num_group_pairs mean_group_latency_difference_ms
        0     1     8                   8         462.5             350               -112.5                     4               -125
        1     0     8                   8         350               462.5             112.5                      4               125
        """,
    )
    for view, compared in (
        ("output_audit WHERE dataset IS NULL", "num_compared"),
        ("paired_summary", "num_first_tokens_compared"),
    ):
        expect(pair, f"{view} ORDER BY run_a", f"run_a run_b {compared}\n0 1 8\n1 0 8")


def test_paired_summary(pair, expect):
    expect(
        pair,
        "paired_summary",
        """
        run_a run_b label_a             label_b             num_pairs num_rounds_a num_rounds_b rounds_difference
        0     1     radix               radixflow-immediate 8         6            4            -2
        1     0     radixflow-immediate radix               8         4            6            2
        """,
    )
    expect(
        pair,
        "paired_summary WHERE run_a = 0",
        """
        mean_latency_ms_a mean_latency_ms_b mean_latency_difference_ms mean_latency_difference_fraction rounds_difference_fraction
        462.5             350               -112.5                     -0.243243                        -0.333333
        """,
    )


@pytest.fixture
def disagreeing(tmp_path):
    """Two arms of three requests: one agrees, one disagrees, one never completed in the second arm."""
    paths = []
    for policy, tokens in (("radix", (1, 2, 3)), ("radixflow", (1, 9, None))):
        run = builders.RunBuilder(tmp_path / policy, policy)
        for number, token in enumerate(tokens):
            run.request(f"a{number}", first_token_id=token)
        for number, token in enumerate(tokens):
            if token is not None:
                run.round((f"a{number}", 48))
        paths.append(run.write())
    return open_runs(paths)


def test_pairs_that_disagree_or_did_not_complete(disagreeing, expect):
    expect(
        disagreeing,
        "paired_requests WHERE run_a = 0 ORDER BY request_id",
        """
        request_id latency_ms_a latency_ms_b latency_difference_ms first_token_agrees
        a0         200          200          0                     True
        a1         300          300          0                     False
        a2         400          -            -                     -
        """,
    )
    expect(
        disagreeing,
        "paired_summary WHERE run_a = 0",
        """
        num_shared_requests num_pairs mean_latency_ms_a num_first_tokens_compared first_token_agreement_fraction num_first_token_disagreements
        3                   2         250               2                         0.5                            1
        """,
    )
    expect(
        disagreeing,
        "paired_summary WHERE run_a = 0",
        """
        reused_tokens_difference scheduled_tokens_difference rows_per_round_difference rows_avoidable_difference
        0                        -48                         0                         0
        """,
    )


def test_only_runs_of_one_workload_are_paired(tmp_path, expect):
    paths = [builders.prefix_stop_run(tmp_path / "one")]
    for number, digest in enumerate(["other", None, None]):
        run = builders.RunBuilder(tmp_path / f"two{number}", f"p{number}", workload={"digest": digest})
        run.request("a0")
        run.round(("a0", 48))
        paths.append(run.write())
    connection = open_runs(paths)
    expect(connection, "paired_requests", "run_a run_b")
    expect(connection, "paired_summary", "run_a run_b")


def test_ledger_faults(tmp_path, expect):
    run = builders.RunBuilder(tmp_path / "run")
    run.request("a0")
    run.request("a1")
    run.request("b0", num_reused_tokens=5)
    run.round(("a0", 48), ("a1", 48), rows_other=1)
    run.finish()
    run.rows_of["requests"][1]["num_repeated_tokens"] = 8
    expect(
        open_runs([run.write()]),
        "ledger_faults ORDER BY ledger",
        """
        run ledger round request sentence
        0   slot   1     -       Round_1_may_hold_2_rows,_but_its_ledger_explains_3.
        0   token  -     1       Request_a1_has_48_prompt_tokens,_but_its_ledger_explains_40.
        """,
    )


def test_ledgers_that_close_are_no_faults(pair, expect):
    expect(pair, "ledger_faults", "run ledger")


def test_segment_faults(tmp_path, expect):
    good = builders.one_round_run(tmp_path)
    paths = [good, builders.broken_run(tmp_path, "future_version"), builders.broken_run(tmp_path, "missing")]
    expect(
        open_runs(paths),
        "segment_faults",
        """
        run table_name file_name
        1   -          manifest.json
        2   rows       engine-*.parquet
        """,
    )
