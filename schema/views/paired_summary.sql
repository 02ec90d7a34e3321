-- One row of differences a pair of arms.
-- depends on: runs, run_summary, paired_requests

CREATE VIEW paired_summary AS
WITH of_pairs AS (
    SELECT
        run_a,
        run_b,
        count(*) AS num_shared_requests,
        count(latency_difference_ms) AS num_pairs,
        avg(latency_ms_a) FILTER (latency_difference_ms IS NOT NULL) AS mean_latency_ms_a,
        avg(latency_ms_b) FILTER (latency_difference_ms IS NOT NULL) AS mean_latency_ms_b,
        avg(latency_difference_ms) AS mean_latency_difference_ms,
        avg(first_token_agrees::INTEGER) AS first_token_agreement_fraction,
        count(*) FILTER (NOT first_token_agrees) AS num_first_token_disagreements,
        count(first_token_agrees) AS num_first_tokens_compared
    FROM paired_requests
    GROUP BY run_a, run_b
)
SELECT
    a.run AS run_a,
    b.run AS run_b,
    a.label AS label_a,
    b.label AS label_b,
    coalesce(num_shared_requests, 0) AS num_shared_requests,
    coalesce(num_pairs, 0) AS num_pairs,
    a.num_rounds AS num_rounds_a,
    b.num_rounds AS num_rounds_b,
    b.num_rounds - a.num_rounds AS rounds_difference,
    (b.num_rounds - a.num_rounds) / nullif(a.num_rounds, 0) AS rounds_difference_fraction,
    mean_latency_ms_a,
    mean_latency_ms_b,
    mean_latency_difference_ms,
    mean_latency_difference_ms / nullif(mean_latency_ms_a, 0) AS mean_latency_difference_fraction,
    first_token_agreement_fraction,
    coalesce(num_first_token_disagreements, 0) AS num_first_token_disagreements,
    coalesce(num_first_tokens_compared, 0) AS num_first_tokens_compared,
    b.num_reused_tokens - a.num_reused_tokens AS reused_tokens_difference,
    b.num_scheduled_tokens - a.num_scheduled_tokens AS scheduled_tokens_difference,
    b.rows_per_round - a.rows_per_round AS rows_per_round_difference,
    b.rows_avoidable - a.rows_avoidable AS rows_avoidable_difference
FROM runs AS run_a
JOIN runs AS run_b ON run_a.workload_digest = run_b.workload_digest AND run_a.run <> run_b.run
JOIN run_summary AS a ON a.run = run_a.run
JOIN run_summary AS b ON b.run = run_b.run
LEFT JOIN of_pairs ON of_pairs.run_a = run_a.run AND of_pairs.run_b = run_b.run
ORDER BY run_a.run, run_b.run;

COMMENT ON VIEW paired_summary IS 'One row an ordered pair of runs with the same workload digest; every difference is b minus a.';
COMMENT ON COLUMN paired_summary.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN paired_summary.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN paired_summary.label_a IS '[-] Name of run a.';
COMMENT ON COLUMN paired_summary.label_b IS '[-] Name of run b.';
COMMENT ON COLUMN paired_summary.num_shared_requests IS '[requests] Branches recorded in both runs.';
COMMENT ON COLUMN paired_summary.num_pairs IS '[requests] Branches that completed in both runs: what the latencies here are computed over.';
COMMENT ON COLUMN paired_summary.num_rounds_a IS '[rounds] Rounds of run a.';
COMMENT ON COLUMN paired_summary.num_rounds_b IS '[rounds] Rounds of run b.';
COMMENT ON COLUMN paired_summary.rounds_difference IS '[rounds] Negative when run b used fewer. Formula: num_rounds_b - num_rounds_a.';
COMMENT ON COLUMN paired_summary.rounds_difference_fraction IS '[fraction] Formula: rounds_difference / num_rounds_a.';
COMMENT ON COLUMN paired_summary.mean_latency_ms_a IS '[ms] Mean latency of the pairs in run a.';
COMMENT ON COLUMN paired_summary.mean_latency_ms_b IS '[ms] Mean latency of the pairs in run b.';
COMMENT ON COLUMN paired_summary.mean_latency_difference_ms IS '[ms] Mean over the pairs of latency_ms_b - latency_ms_a; negative when run b was faster.';
COMMENT ON COLUMN paired_summary.mean_latency_difference_fraction IS '[fraction] Formula: mean_latency_difference_ms / mean_latency_ms_a.';
COMMENT ON COLUMN paired_summary.first_token_agreement_fraction IS '[fraction] Share of branches with the same first token in both runs, of those where both are known.';
COMMENT ON COLUMN paired_summary.num_first_token_disagreements IS '[requests] Branches with different first tokens.';
COMMENT ON COLUMN paired_summary.num_first_tokens_compared IS '[requests] Branches whose first token is known in both runs.';
COMMENT ON COLUMN paired_summary.reused_tokens_difference IS '[tokens] Prompt tokens reused in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.scheduled_tokens_difference IS '[tokens] Tokens scheduled in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.rows_per_round_difference IS '[rows] Mean rows a round in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.rows_avoidable_difference IS '[rows] Avoidable rows in run b minus those in run a; NULL when either probe was off.';
