"""Views over several runs: what may be compared, outputs, arms, sensitivity, load."""
# ruff: noqa: E501 (expected tables are as wide as they are)

import pytest

from radixflow.schema.reading.connection import open_runs
from tests import builders


def one(path, policy, rounds=1, **facts):
    """A run of two requests in as many rounds as told (1 or 2)."""
    run = builders.RunBuilder(path, policy, **facts)
    run.request("a0", group=0, offered_ns=0, sent_ns=100)
    run.request("b0", group=1, offered_ns=500, sent_ns=500)
    if rounds == 1:
        run.round(("a0", 48), ("b0", 48))
    else:
        run.round(("a0", 48))
        run.round(("b0", 48))
    return run.write()


def test_comparability_lists_what_differs_and_what_it_spoils(tmp_path, expect):
    model = {"name": "tiny-hybrid", "architecture": "Qwen3Next", "is_hybrid": True, "block_size": 32}
    paths = [one(tmp_path / "a", "radix"), one(tmp_path / "b", "radixflow", model=model, probe="off")]
    connection = open_runs(paths)
    expect(
        connection,
        "comparability WHERE run_a = 0 AND NOT is_same ORDER BY property",
        """
        run_a run_b property         value_a value_b affects    sentence
        0     1     model.block_size 16      32      scheduling model.block_size_is_16_in_radix_and_32_in_radixflow.
        0     1     recording.probe  blocked off     times      recording.probe_is_blocked_in_radix_and_off_in_radixflow.
        """,
    )
    expect(
        connection,
        "run_pairs WHERE run_a = 0",
        """
        is_pairable is_comparable num_differences is_scheduling_comparable
        True        False         2               False
        """,
    )
    expect(connection, "paired_summary WHERE run_a = 0", "is_comparable num_differences\nFalse 2")


@pytest.mark.parametrize(
    "facts",
    [
        {"workload": {"digest": "other"}},
        {"workload": {}},
        {"model": {"name": "tiny-attention", "architecture": "Qwen3Next"}},
        {"model": {"name": "tiny-hybrid", "architecture": "Qwen3"}},
    ],
)
def test_another_stream_or_model_refuses_the_pairing(tmp_path, expect, facts):
    connection = open_runs([one(tmp_path / "a", "radix"), one(tmp_path / "b", "radixflow", **facts)])
    expect(connection, "run_pairs WHERE run_a = 0", "is_pairable is_comparable\nFalse False")
    for view in ("paired_requests", "paired_groups", "paired_summary", "cost_shift", "output_audit", "sensitivity"):
        expect(connection, view, "run_a run_b")


def test_output_audit_and_the_branches_that_disagree(tmp_path, expect):
    paths = []
    for policy, tokens in (("radix", (1, 2, 3)), ("radixflow", (1, 9, None))):
        run = builders.RunBuilder(tmp_path / policy, policy)
        for number, token in enumerate(tokens):
            run.request(f"a{number}", first_token_id=token, dataset="long" if number == 1 else "short")
            run.round((f"a{number}", 48))
        paths.append(run.write())
    connection = open_runs(paths)
    expect(
        connection,
        "output_audit WHERE run_a = 0 ORDER BY dataset NULLS FIRST",
        """
        label_a label_b   dataset num_shared_requests num_compared num_agreeing num_disagreeing agreement_fraction
        radix   radixflow -       3                   2            1            1               0.5
        radix   radixflow long    1                   1            0            1               0
        radix   radixflow short   2                   1            1            0               1
        """,
    )
    expect(
        connection,
        "output_disagreements WHERE run_a = 0",
        "run_a run_b request_id dataset first_token_id_a first_token_id_b\n0 1 a1 long 2 9",
    )


@pytest.fixture
def matrix(tmp_path):
    """Two policies over two orders of one regime: the second policy saves half the rounds of one, and doubles the other."""
    paths = []
    for order, counts in (("forward", (2, 1)), ("backward", (1, 2))):
        for policy, count in zip(("radix", "radixflow"), counts, strict=True):
            workload = {"digest": order, "regime": "mixed", "input_order": order, "repeat": 1, "rate": 4.0}
            facts = {"stream": order, "workload": workload}
            paths.append(one(tmp_path / order / policy, policy, count, **facts))
    return open_runs(paths)


def test_sensitivity_flags_a_change_of_sign_between_orders(matrix, expect):
    expect(
        matrix,
        "sensitivity WHERE policy_a = 'radix' ORDER BY run_a",
        """
        run_a run_b policy_a policy_b  stream   regime input_order repeat arrival_rate num_rounds_saved rounds_saved_fraction mean_latency_saved_ms
        0     1     radix    radixflow forward  mixed  forward     1      4            1                0.5                   50
        2     3     radix    radixflow backward mixed  backward    1      4            -1               -1                    -50
        """,
    )
    expect(
        matrix,
        "sensitivity_summary WHERE policy_a = 'radix' ORDER BY scope, scope_value",
        """
        scope           scope_value      num_streams num_orders num_repeats mean_rounds_saved_fraction least_rounds_saved_fraction most_rounds_saved_fraction is_rounds_sign_changed is_latency_sign_changed
        over_everything -                2           2          1           -0.25                      -1                          0.5                        True                   True
        over_orders     mixed            2           2          1           -0.25                      -1                          0.5                        True                   True
        over_repeats    mixed_/_backward 1           1          1           -1                         -1                          -1                         False                  False
        over_repeats    mixed_/_forward  1           1          1           0.5                        0.5                         0.5                        False                  False
        """,
    )


def test_arm_summary(matrix, expect):
    expect(
        matrix,
        "arm_summary WHERE policy = 'radix' ORDER BY scope, scope_value",
        """
        policy scope       scope_value num_runs num_rounds rows_per_round tokens_per_round num_scheduled_tokens reused_fraction rows_avoidable mean_latency_ms
        radix  all         -           2        3          1.33333        64               192                  0               0              825
        radix  input_order backward    1        1          2              96               96                   0               0              800
        radix  input_order forward     1        2          1              48               96                   0               0              850
        radix  regime      mixed       2        3          1.33333        64               192                  0               0              825
        radix  repeat      1           2        3          1.33333        64               192                  0               0              825
        """,
    )


def test_load_curve(matrix, expect):
    expect(  # branches due at 0 and 500 ns: 2 million a second; both completed at 1100 ns, or one at 1200
        matrix,
        "load_curve ORDER BY run LIMIT 2",
        """
        run policy    arrival_rate num_offered offered_per_second completed_per_second mean_latency_ms mean_lateness_ms most_lateness_ms p95_group_latency_ms num_rounds rows_per_round
        0   radix     4            2           2e+06              1.66667e+06          850             50               100              1080                 2          1
        1   radixflow 4            2           2e+06              1.81818e+06          800             50               100              1075                 1          2
        """,
    )
