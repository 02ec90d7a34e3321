"""The real engine in its own process: both arms of a stream, recorded and compared."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from radixflow.schema.checking.check import check_run
from radixflow.schema.reading.connection import open_runs
from radixflow.schema.run_files.run_directory import RunDirectory
from tests.collector.cli.collect_command import collect

pytest.importorskip("vllm")
pytestmark = pytest.mark.engine
HYBRID_WORDS = ("--num-groups", "12", "--rate", "inf", "--regime", "mixed", "--max-model-len", "5000")
POLICIES = ("radix", "radixflow-immediate")


class Recorded:
    """Both arms of a stream."""

    def __init__(self, output: Path, model: str, *words: str) -> None:
        result = collect("--model", model, "-o", output, "--stream", "s", "--policy", *POLICIES, "--json", *words)
        assert result.returncode == 0, result.stderr
        self.stderr = result.stderr
        self.summary: dict[str, Any] = json.loads(result.stdout)  # nothing but JSON is on stdout
        self.paths = [output / model / "s" / policy for policy in POLICIES]
        self.radix, self.flow = self.summary["run_summary"]
        self.pair = self.summary["paired_summary"][0]

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        connection: duckdb.DuckDBPyConnection = open_runs(self.paths)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("hybrid"), "tiny-hybrid", *HYBRID_WORDS)


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    words = ["--num-groups", "10", "--rate", "20", "--max-output-tokens", "2"]
    return Recorded(tmp_path_factory.mktemp("attention"), "tiny-attention", *words)


@pytest.mark.parametrize("model", ["hybrid", "attention"])
def test_runs_are_complete_and_without_faults(model: str, request: pytest.FixtureRequest) -> None:
    recorded: Recorded = request.getfixturevalue(model)
    for path, policy in zip(recorded.paths, POLICIES, strict=True):
        run = RunDirectory(path)
        assert run.state == "complete"
        assert check_run(path) == []
        assert run.manifest.policy == policy
        assert run.manifest.policy_effective == {"radix": "prefix-stop", "radixflow-immediate": "state-ready"}[policy]
        assert run.manifest.faults == []
        assert run.manifest.model["is_hybrid"] == (model == "hybrid")
        assert run.manifest.workload["digest"] == RunDirectory(recorded.paths[0]).manifest.workload["digest"]
        assert "/" not in " ".join(run.manifest.command)


def test_arms_differ_in_nothing_but_the_policy(hybrid: Recorded) -> None:
    first, second = (RunDirectory(path).manifest for path in hybrid.paths)
    assert first.engine_arguments == second.engine_arguments
    assert first.workload == second.workload
    assert first.model == second.model


def test_state_ready_traversal_uses_fewer_rounds_for_the_same_work(hybrid: Recorded) -> None:
    assert hybrid.flow["num_rounds"] < hybrid.radix["num_rounds"]
    assert hybrid.flow["rows_per_round"] > hybrid.radix["rows_per_round"]
    assert hybrid.flow["num_scheduled_tokens"] == hybrid.radix["num_scheduled_tokens"] > 0
    assert hybrid.flow["num_reused_tokens"] == hybrid.radix["num_reused_tokens"] > 0
    assert hybrid.radix["num_blocked_visits"] > 0
    assert hybrid.radix["rows_avoidable"] > 0
    assert hybrid.flow["rows_avoidable"] == 0


def test_first_tokens_agree_and_say_something(hybrid: Recorded) -> None:
    assert hybrid.pair["num_first_tokens_compared"] == hybrid.radix["num_requests_finished"] > 20
    assert hybrid.pair["first_token_agreement_fraction"] == 1.0
    # A model that answers everything alike would agree with itself whatever its state.
    assert hybrid.query("SELECT count(DISTINCT first_token_id) FROM offers WHERE run = 0")[0][0] > 5


def test_first_tokens_are_those_of_each_request_computed_alone(hybrid: Recorded, tmp_path: Path) -> None:
    """Arms can agree and be wrong alike: the reference computes each prompt alone, in one piece, from nothing."""
    alone = ["--max-num-seqs", "1", "--max-num-batched-tokens", "5000", "--no-enable-prefix-caching"]
    where = ["--policy", "stock", "-o", tmp_path, "--stream", "s", "--mamba-cache-mode", "none"]
    result = collect("--model", "tiny-hybrid", *where, *alone, *HYBRID_WORDS)
    assert result.returncode == 0, result.stderr
    assert "prefix caching is off" in result.stderr
    connection = open_runs([tmp_path / "tiny-hybrid" / "s" / "stock", *hybrid.paths])
    pairs = connection.execute(
        "SELECT num_first_tokens_compared, num_first_token_disagreements FROM paired_summary WHERE run_a = 0"
    ).fetchall()
    assert [compared for compared, _ in pairs] == [hybrid.radix["num_requests_finished"]] * 2
    # Two tokens of q00006-b3 are a near tie in bfloat16; a state of another position changes many answers (8 of 36).
    assert all(disagreements <= 1 for _, disagreements in pairs)


def test_prompts_are_split_at_boundaries_of_the_state_blocks(hybrid: Recorded) -> None:
    """Else a state is published under a boundary at which it was never computed (see ``safe_block_size``)."""
    block_size = RunDirectory(hybrid.paths[0]).manifest.model["block_size"]
    assert block_size > 128  # the default that vLLM's CPU platform would fall back to
    off_boundary = f"""
        SELECT count(*) FROM rows JOIN requests USING (run, request)
        WHERE first_token + num_tokens < num_prompt_tokens AND (first_token + num_tokens) % {block_size} <> 0"""
    assert hybrid.query(off_boundary) == [(0,)]


def test_overlength_prompts_are_rejected_by_name_and_never_cut(hybrid: Recorded) -> None:
    rejected = hybrid.query("SELECT run, request_id, outcome_reason FROM offers WHERE outcome = 'rejected'")
    assert rejected
    assert len({run for run, *_ in rejected}) == 2
    for _, request_id, reason in rejected:
        assert request_id in reason
        assert reason in hybrid.stderr
    joined = "SELECT count(*) FROM offers o JOIN requests r USING (run, request_id)"
    assert hybrid.query(f"{joined} WHERE o.outcome = 'rejected'") == [(0,)]
    assert hybrid.query(f"{joined} WHERE o.num_prompt_tokens <> r.num_prompt_tokens") == [(0,)]


@pytest.mark.parametrize("model", ["hybrid", "attention"])
def test_the_clocks_of_client_and_engine_agree(model: str, request: pytest.FixtureRequest) -> None:
    recorded: Recorded = request.getfixturevalue(model)
    disordered = """
        SELECT count(*) FROM offers JOIN requests USING (run, request_id)
        WHERE NOT (offered_ns <= sent_ns AND sent_ns <= registered_ns AND registered_ns <= first_selected_ns
                   AND first_selected_ns <= first_output_ns AND first_output_ns <= completed_ns)"""
    assert recorded.query(disordered) == [(0,)]
    assert recorded.query("SELECT count(*) FROM spans WHERE component = 'execute'")[0][0] > 0


def test_on_full_attention_the_recurrent_check_never_fires(attention: Recorded) -> None:
    for run in (attention.radix, attention.flow):
        assert run["num_blocked_visits"] == 0
        assert run["num_reused_tokens"] > 0
        assert run["num_requests_finished"] == 40
    assert attention.pair["first_token_agreement_fraction"] == 1.0
    assert attention.query("SELECT min(num_output_tokens), max(num_output_tokens) FROM offers") == [(2, 2)]


def test_progress_names_rounds_and_requests(hybrid: Recorded) -> None:
    assert "radix: starting the engine, 0 of" in hybrid.stderr
    assert "radixflow-immediate: stopping the engine, " in hybrid.stderr
    noise = [line for line in hybrid.stderr.splitlines() if not line.startswith(("radix", "Request q"))]
    assert noise == []
