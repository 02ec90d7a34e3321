-- One row of differences a pair of arms.
-- depends on: run_pairs, run_summary, paired_sums, output_audit, paired_intervals

CREATE VIEW paired_summary AS
WITH summaries AS MATERIALIZED (
    SELECT * FROM run_summary
)
SELECT
    a.run AS run_a,
    b.run AS run_b,
    a.label AS label_a,
    b.label AS label_b,
    coalesce(paired_sums.num_shared_requests, 0) AS num_shared_requests,
    coalesce(num_pairs, 0) AS num_pairs,
    a.num_rounds AS num_rounds_a,
    b.num_rounds AS num_rounds_b,
    b.num_rounds - a.num_rounds AS rounds_difference,
    (b.num_rounds - a.num_rounds) / nullif(a.num_rounds, 0) AS rounds_difference_fraction,
    mean_latency_ms_a,
    mean_latency_ms_b,
    mean_latency_difference_ms,
    mean_latency_difference_ms / nullif(mean_latency_ms_a, 0) AS mean_latency_difference_fraction,
    audit.agreement_fraction AS first_token_agreement_fraction,
    coalesce(audit.num_disagreeing, 0) AS num_first_token_disagreements,
    coalesce(audit.num_compared, 0) AS num_first_tokens_compared,
    b.num_reused_tokens - a.num_reused_tokens AS reused_tokens_difference,
    b.num_scheduled_tokens - a.num_scheduled_tokens AS scheduled_tokens_difference,
    b.rows_per_round - a.rows_per_round AS rows_per_round_difference,
    b.rows_avoidable - a.rows_avoidable AS rows_avoidable_difference,
    mean_waiting_difference_ms,
    coalesce(num_group_pairs, 0) AS num_group_pairs,
    mean_group_latency_difference_ms,
    b.tokens_per_round - a.tokens_per_round AS tokens_per_round_difference,
    b.row_fullness_fraction - a.row_fullness_fraction AS row_fullness_difference_fraction,
    b.token_fullness_fraction - a.token_fullness_fraction AS token_fullness_difference_fraction,
    b.reused_fraction - a.reused_fraction AS reused_difference_fraction,
    b.tokens_avoidable - a.tokens_avoidable AS tokens_avoidable_difference,
    b.num_bubble_rounds - a.num_bubble_rounds AS bubble_rounds_difference,
    b.bubble_round_fraction - a.bubble_round_fraction AS bubble_round_difference_fraction,
    b.num_blocked_visits - a.num_blocked_visits AS blocked_visits_difference,
    b.num_blocked_requests - a.num_blocked_requests AS blocked_requests_difference,
    b.num_recovered_requests - a.num_recovered_requests AS recovered_requests_difference,
    b.num_requests_finished - a.num_requests_finished AS finished_requests_difference,
    b.num_empty_steps - a.num_empty_steps AS empty_steps_difference,
    b.p50_latency_ms - a.p50_latency_ms AS p50_latency_difference_ms,
    b.p95_latency_ms - a.p95_latency_ms AS p95_latency_difference_ms,
    b.mean_round_ms - a.mean_round_ms AS mean_round_difference_ms,
    b.duration_ms - a.duration_ms AS duration_difference_ms,
    intervals.mean_latency_difference_low_ms,
    intervals.mean_latency_difference_high_ms,
    intervals.mean_waiting_difference_low_ms,
    intervals.mean_waiting_difference_high_ms,
    intervals.mean_group_latency_difference_low_ms,
    intervals.mean_group_latency_difference_high_ms,
    intervals.reused_tokens_difference_low,
    intervals.reused_tokens_difference_high,
    intervals.reused_difference_low_fraction,
    intervals.reused_difference_high_fraction,
    intervals.scheduled_tokens_difference_low,
    intervals.scheduled_tokens_difference_high,
    run_pairs.is_comparable,
    run_pairs.num_differences,
    run_pairs.differences
FROM run_pairs
JOIN summaries AS a ON a.run = run_pairs.run_a
JOIN summaries AS b ON b.run = run_pairs.run_b
LEFT JOIN paired_sums USING (run_a, run_b)
LEFT JOIN output_audit AS audit
    ON audit.run_a = run_pairs.run_a AND audit.run_b = run_pairs.run_b AND audit.dataset IS NULL
LEFT JOIN paired_intervals AS intervals
    ON intervals.run_a = run_pairs.run_a AND intervals.run_b = run_pairs.run_b AND intervals.dataset IS NULL
WHERE run_pairs.is_pairable
ORDER BY a.run, b.run;

COMMENT ON VIEW paired_summary IS 'One row an ordered pair of pairable runs (run_pairs); every difference is b minus a.';
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
COMMENT ON COLUMN paired_summary.mean_waiting_difference_ms IS '[ms] Mean over the pairs of the time from registration to first selection in run b minus that in run a.';
COMMENT ON COLUMN paired_summary.num_group_pairs IS '[groups] Request groups that completed in both runs.';
COMMENT ON COLUMN paired_summary.mean_group_latency_difference_ms IS '[ms] Mean over those groups of their latency in run b minus that in run a.';
COMMENT ON COLUMN paired_summary.tokens_per_round_difference IS '[tokens] Mean tokens a round in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.row_fullness_difference_fraction IS '[fraction] Share of row slots in use in run b minus that in run a (percentage points when times 100).';
COMMENT ON COLUMN paired_summary.token_fullness_difference_fraction IS '[fraction] Share of token budgets in use in run b minus that in run a.';
COMMENT ON COLUMN paired_summary.reused_difference_fraction IS '[fraction] Share of the input that was reused in run b minus that in run a.';
COMMENT ON COLUMN paired_summary.tokens_avoidable_difference IS '[tokens] Avoidable tokens in run b minus those in run a; NULL when either probe was off.';
COMMENT ON COLUMN paired_summary.bubble_rounds_difference IS '[rounds] Rounds with an avoidable row in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.bubble_round_difference_fraction IS '[fraction] Share of rounds with an avoidable row in run b minus that in run a.';
COMMENT ON COLUMN paired_summary.blocked_visits_difference IS '[visits] BLOCKED visits in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.blocked_requests_difference IS '[requests] Requests with a BLOCKED visit in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.recovered_requests_difference IS '[requests] Recovered requests in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.finished_requests_difference IS '[requests] Finished requests in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.empty_steps_difference IS '[steps] schedule() calls without work in run b minus those in run a.';
COMMENT ON COLUMN paired_summary.p50_latency_difference_ms IS '[ms] Median latency in run b minus that in run a; each over its own completed branches.';
COMMENT ON COLUMN paired_summary.p95_latency_difference_ms IS '[ms] 95th percentile of latency in run b minus that in run a.';
COMMENT ON COLUMN paired_summary.mean_round_difference_ms IS '[ms] Mean duration of a round in run b minus that in run a.';
COMMENT ON COLUMN paired_summary.duration_difference_ms IS '[ms] First round to last in run b minus the same in run a.';
COMMENT ON COLUMN paired_summary.mean_latency_difference_low_ms IS '[ms] Lower end of the 95 % interval of the mean latency difference (paired_intervals).';
COMMENT ON COLUMN paired_summary.mean_latency_difference_high_ms IS '[ms] Upper end of the same.';
COMMENT ON COLUMN paired_summary.mean_waiting_difference_low_ms IS '[ms] Lower end of the 95 % interval of the mean waiting difference.';
COMMENT ON COLUMN paired_summary.mean_waiting_difference_high_ms IS '[ms] Upper end of the same.';
COMMENT ON COLUMN paired_summary.mean_group_latency_difference_low_ms IS '[ms] Lower end of the 95 % interval of the mean group latency difference.';
COMMENT ON COLUMN paired_summary.mean_group_latency_difference_high_ms IS '[ms] Upper end of the same.';
COMMENT ON COLUMN paired_summary.reused_tokens_difference_low IS '[tokens] Lower end of the 95 % interval of the difference of reused tokens.';
COMMENT ON COLUMN paired_summary.reused_tokens_difference_high IS '[tokens] Upper end of the same.';
COMMENT ON COLUMN paired_summary.reused_difference_low_fraction IS '[fraction] Lower end of the 95 % interval of the difference of reused shares.';
COMMENT ON COLUMN paired_summary.reused_difference_high_fraction IS '[fraction] Upper end of the same.';
COMMENT ON COLUMN paired_summary.scheduled_tokens_difference_low IS '[tokens] Lower end of the 95 % interval of the difference of scheduled tokens.';
COMMENT ON COLUMN paired_summary.scheduled_tokens_difference_high IS '[tokens] Upper end of the same.';
COMMENT ON COLUMN paired_summary.is_comparable IS '[-] Whether the manifests agree in everything they state; if not, the pair is to be marked.';
COMMENT ON COLUMN paired_summary.num_differences IS '[differences] Properties in which they differ.';
COMMENT ON COLUMN paired_summary.differences IS '[-] Those differences, a sentence each; NULL without any.';
