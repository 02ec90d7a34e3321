-- One row of numbers a run.
-- depends on: runs, opened_runs, rounds, stalls, round_ends, bubble_totals, requests, request_lives, group_lives
-- cached by: run

CREATE VIEW run_summary AS
WITH of_rounds AS (
    SELECT
        run,
        sum(num_empty_steps)::BIGINT AS num_empty_steps,
        avg(rows_used) AS rows_per_round,
        avg(tokens_scheduled) AS tokens_per_round,
        sum(rows_used) / nullif(sum(row_capacity), 0) AS row_fullness_fraction,
        sum(tokens_scheduled) / nullif(sum(token_budget), 0) AS token_fullness_fraction,
        sum(tokens_scheduled)::BIGINT AS num_scheduled_tokens,
        sum(num_blocked_visits)::BIGINT AS num_blocked_visits,
        max(row_capacity) AS row_capacity,
        max(token_budget) AS token_budget
    FROM rounds
    GROUP BY run
),
after_the_last_round AS (
    SELECT stalls.run, sum(num_steps)::BIGINT AS num_empty_steps
    FROM stalls
    LEFT JOIN (SELECT run, max(round) AS last_round FROM rounds GROUP BY run) AS found ON found.run = stalls.run
    WHERE coalesce(round_before, 0) >= coalesce(last_round, 0)
    GROUP BY stalls.run
),
of_times AS (
    SELECT
        run,
        avg(end_ns - start_ns) / 1e6 AS mean_round_ms
    FROM round_ends
    GROUP BY run
),
of_requests AS (
    SELECT
        run,
        count(*) FILTER (outcome IN ('finished', 'continued')) AS num_requests_finished,
        sum(num_reused_tokens)::BIGINT AS num_reused_tokens,
        sum(num_prompt_tokens) FILTER (num_reused_tokens IS NOT NULL)::BIGINT AS num_prompt_tokens,
        count(*) FILTER (num_blocked_visits > 0) AS num_blocked_requests,
        count(*) FILTER (num_blocked_visits > 0 AND first_selected_round IS NOT NULL) AS num_recovered_requests
    FROM requests
    GROUP BY run
),
of_lives AS (
    SELECT
        run,
        avg(latency_ms) AS mean_latency_ms,
        quantile_cont(latency_ms, 0.50) AS p50_latency_ms,
        quantile_cont(latency_ms, 0.95) AS p95_latency_ms
    FROM request_lives
    GROUP BY run
),
of_groups AS (
    SELECT run, avg(latency_ms) AS mean_group_latency_ms
    FROM group_lives
    GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    -- of a sample of the rounds: what was counted over all of them; what nobody counted is NULL, a sample is no sum
    CASE WHEN is_observed THEN coalesce(exact_num_rounds, bubbles.num_rounds) END AS num_rounds,
    -- what the engine counted until its last status; of a process that was killed, what is on the disk may be more
    CASE WHEN is_observed THEN greatest(
        exact_num_empty_steps,
        coalesce(of_rounds.num_empty_steps, 0) + coalesce(after_the_last_round.num_empty_steps, 0)
    ) END AS num_empty_steps,
    coalesce(exact_num_rows / nullif(exact_num_rounds, 0), rows_per_round) AS rows_per_round,
    coalesce(exact_num_tokens / nullif(exact_num_rounds, 0), tokens_per_round) AS tokens_per_round,
    coalesce(exact_num_rows / nullif(exact_num_rounds * of_rounds.row_capacity, 0), row_fullness_fraction)
        AS row_fullness_fraction,
    coalesce(exact_num_tokens / nullif(exact_num_rounds * of_rounds.token_budget, 0), token_fullness_fraction)
        AS token_fullness_fraction,
    CASE WHEN is_observed THEN coalesce(num_requests_finished, 0) END AS num_requests_finished,
    CASE WHEN is_observed THEN coalesce(exact_num_tokens, num_scheduled_tokens, 0) END AS num_scheduled_tokens,
    CASE WHEN is_observed THEN coalesce(num_reused_tokens, 0) END AS num_reused_tokens,
    CASE WHEN is_observed THEN coalesce(num_prompt_tokens, 0) END AS num_prompt_tokens,
    num_reused_tokens / nullif(num_prompt_tokens, 0) AS reused_fraction,
    CASE WHEN is_observed THEN coalesce(exact_num_blocked_visits, num_blocked_visits, 0) END AS num_blocked_visits,
    CASE WHEN is_observed THEN coalesce(num_blocked_requests, 0) END AS num_blocked_requests,
    CASE WHEN is_observed THEN coalesce(num_recovered_requests, 0) END AS num_recovered_requests,
    -- without an observed engine: unknown, not 0
    CASE WHEN is_observed AND sampled_fraction IS NULL THEN bubbles.rows_avoidable END AS rows_avoidable,
    CASE WHEN is_observed AND sampled_fraction IS NULL THEN bubbles.tokens_avoidable END AS tokens_avoidable,
    CASE WHEN is_observed AND sampled_fraction IS NULL THEN bubbles.num_bubble_rounds END AS num_bubble_rounds,
    CASE WHEN is_observed THEN bubbles.bubble_round_fraction END AS bubble_round_fraction,
    mean_latency_ms,
    p50_latency_ms,
    p95_latency_ms,
    mean_group_latency_ms,
    CASE WHEN sampled_fraction IS NULL THEN bubbles.duration_ms END AS duration_ms,
    mean_round_ms,
    sampled_fraction,
    CASE WHEN is_observed THEN bubbles.num_rounds END AS num_rounds_kept,
    bubbles.avoidable_rows_per_round
FROM runs
JOIN (
    SELECT run, exact_num_rounds, exact_num_rows, exact_num_tokens, exact_num_empty_steps, exact_num_blocked_visits
    FROM opened_runs
) AS exact USING (run)
JOIN bubble_totals AS bubbles ON bubbles.run = runs.run
LEFT JOIN of_rounds USING (run)
LEFT JOIN after_the_last_round USING (run)
LEFT JOIN of_times USING (run)
LEFT JOIN of_requests USING (run)
LEFT JOIN of_lives USING (run)
LEFT JOIN of_groups USING (run)
ORDER BY runs.run;

COMMENT ON VIEW run_summary IS 'One row a run: rounds and their fullness, reuse, blocking, bubbles, latency. NULL where a number is undefined: of the engine when it was not observed, of the client when it was not ours.';
COMMENT ON COLUMN run_summary.run IS '[-] Run.';
COMMENT ON COLUMN run_summary.label IS '[-] Name of the run.';
COMMENT ON COLUMN run_summary.num_rounds IS '[rounds] schedule() calls with scheduled work.';
COMMENT ON COLUMN run_summary.num_empty_steps IS '[steps] schedule() calls without work, after the last round as well; no rounds.';
COMMENT ON COLUMN run_summary.rows_per_round IS '[rows] Mean rows in use a round. Formula: sum(rows_used) / num_rounds.';
COMMENT ON COLUMN run_summary.tokens_per_round IS '[tokens] Mean tokens scheduled a round. Formula: sum(tokens_scheduled) / num_rounds.';
COMMENT ON COLUMN run_summary.row_fullness_fraction IS '[fraction] Share of all row slots in use. Formula: sum(rows_used) / sum(row_capacity).';
COMMENT ON COLUMN run_summary.token_fullness_fraction IS '[fraction] Share of all token budgets in use. Formula: sum(tokens_scheduled) / sum(token_budget).';
COMMENT ON COLUMN run_summary.num_requests_finished IS '[requests] Requests that the scheduler ended as finished.';
COMMENT ON COLUMN run_summary.num_scheduled_tokens IS '[tokens] Tokens scheduled in all rounds.';
COMMENT ON COLUMN run_summary.num_reused_tokens IS '[tokens] Prompt tokens taken from the prefix cache at the first selection of each request.';
COMMENT ON COLUMN run_summary.num_prompt_tokens IS '[tokens] Prompt tokens of the requests that were selected at least once.';
COMMENT ON COLUMN run_summary.reused_fraction IS '[fraction] Share of the input taken from the cache. Formula: num_reused_tokens / num_prompt_tokens.';
COMMENT ON COLUMN run_summary.num_blocked_visits IS '[visits] Visits of the scan that ended BLOCKED; the probe does not count.';
COMMENT ON COLUMN run_summary.num_blocked_requests IS '[requests] Requests with at least one BLOCKED visit.';
COMMENT ON COLUMN run_summary.num_recovered_requests IS '[requests] Requests selected after at least one BLOCKED visit.';
COMMENT ON COLUMN run_summary.rows_avoidable IS '[rows] Unused rows for which a READY request waited behind the stop of the scan; NULL when the probe was off.';
COMMENT ON COLUMN run_summary.tokens_avoidable IS '[tokens] Tokens that those READY requests would have taken; NULL when the probe was off.';
COMMENT ON COLUMN run_summary.num_bubble_rounds IS '[rounds] Rounds with at least one avoidable row; NULL when the probe was off.';
COMMENT ON COLUMN run_summary.bubble_round_fraction IS '[fraction] Share of the rounds with an avoidable row. Formula: num_bubble_rounds / num_rounds.';
COMMENT ON COLUMN run_summary.mean_latency_ms IS '[ms] Mean latency of completed branches, sent to completed.';
COMMENT ON COLUMN run_summary.p50_latency_ms IS '[ms] Median of the same latency, continuous quantile.';
COMMENT ON COLUMN run_summary.p95_latency_ms IS '[ms] 95th percentile of the same latency, continuous quantile.';
COMMENT ON COLUMN run_summary.mean_group_latency_ms IS '[ms] Mean latency of request groups, first branch sent to last completed.';
COMMENT ON COLUMN run_summary.duration_ms IS '[ms] From the start of the first round to the end of the last.';
COMMENT ON COLUMN run_summary.mean_round_ms IS '[ms] Mean duration of a round, without probe and recorder.';
COMMENT ON COLUMN run_summary.sampled_fraction IS '[fraction] Share of the rounds that was drawn and kept; NULL when every round is kept. Of a sample, counts that the recorder took over all rounds are exact, means and shares are those of the kept rounds, and other totals are NULL.';
COMMENT ON COLUMN run_summary.num_rounds_kept IS '[rounds] Rounds whose rows, visits and spans are in the run.';
COMMENT ON COLUMN run_summary.avoidable_rows_per_round IS '[rows] Mean avoidable rows a kept round. Formula: sum(rows_avoidable) / num_rounds_kept; NULL when the probe was off.';
