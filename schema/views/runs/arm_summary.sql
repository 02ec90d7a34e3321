-- Numbers of an arm over all its streams, whole and by regime, order and repeat.
-- depends on: runs, run_summary, latency_summary

CREATE VIEW arm_summary AS
WITH arms AS (
    SELECT
        runs.policy, runs.model_name, runs.engine_kind, runs.vllm_version, runs.regime, runs.input_order, runs.repeat,
        run_summary.*, counted.num_latencies
    FROM runs
    JOIN run_summary USING (run)
    LEFT JOIN (
        SELECT run, num_values AS num_latencies FROM latency_summary
        WHERE subject = 'branch' AND interval = 'sent_to_completed' AND dataset IS NULL
    ) AS counted USING (run)
),
scopes AS (
    SELECT
        arms.*,
        unnest(['all', 'regime', 'input_order', 'repeat']) AS scope,
        unnest([NULL, regime, input_order, repeat::VARCHAR]) AS scope_value
    FROM arms
)
SELECT
    policy,
    model_name,
    engine_kind,
    vllm_version,
    scope,
    scope_value,
    count(*) AS num_runs,
    sum(num_rounds)::BIGINT AS num_rounds,
    sum(rows_per_round * num_rounds) / nullif(sum(num_rounds), 0) AS rows_per_round,
    sum(num_scheduled_tokens) / nullif(sum(num_rounds), 0) AS tokens_per_round,
    sum(num_scheduled_tokens)::BIGINT AS num_scheduled_tokens,
    sum(num_reused_tokens) / nullif(sum(num_prompt_tokens), 0) AS reused_fraction,
    sum(num_blocked_visits)::BIGINT AS num_blocked_visits,
    CASE WHEN count(rows_avoidable) = count(num_rounds) THEN sum(rows_avoidable)::BIGINT END AS rows_avoidable,
    sum(mean_latency_ms * num_latencies) / nullif(sum(num_latencies) FILTER (mean_latency_ms IS NOT NULL), 0)
        AS mean_latency_ms
FROM scopes
WHERE scope = 'all' OR scope_value IS NOT NULL
GROUP BY policy, model_name, engine_kind, vllm_version, scope, scope_value;

COMMENT ON VIEW arm_summary IS 'One row a policy, model, kind of engine and vLLM version (rounds of different versions say nothing together), over all their opened runs; and one more for each regime, order and repeat. Sums over runs, means weighted by rounds or requests.';
COMMENT ON COLUMN arm_summary.policy IS '[-] Policy asked for.';
COMMENT ON COLUMN arm_summary.model_name IS '[-] Model.';
COMMENT ON COLUMN arm_summary.engine_kind IS '[-] vllm or simulated.';
COMMENT ON COLUMN arm_summary.vllm_version IS '[-] Version of vLLM that scheduled.';
COMMENT ON COLUMN arm_summary.scope IS '[-] all, regime, input_order or repeat.';
COMMENT ON COLUMN arm_summary.scope_value IS '[-] Which regime, order or repeat; NULL for all.';
COMMENT ON COLUMN arm_summary.num_runs IS '[runs] Opened runs in the row.';
COMMENT ON COLUMN arm_summary.num_rounds IS '[rounds] Rounds of all of them.';
COMMENT ON COLUMN arm_summary.rows_per_round IS '[rows] Mean rows in use a round.';
COMMENT ON COLUMN arm_summary.tokens_per_round IS '[tokens] Mean tokens a round.';
COMMENT ON COLUMN arm_summary.num_scheduled_tokens IS '[tokens] Tokens scheduled.';
COMMENT ON COLUMN arm_summary.reused_fraction IS '[fraction] Share of the input taken from the cache. Formula: sum(num_reused_tokens) / sum(num_prompt_tokens).';
COMMENT ON COLUMN arm_summary.num_blocked_visits IS '[visits] BLOCKED visits of the scans.';
COMMENT ON COLUMN arm_summary.rows_avoidable IS '[rows] Avoidable rows; NULL when the probe was off in any run.';
COMMENT ON COLUMN arm_summary.mean_latency_ms IS '[ms] Mean latency over all completed branches.';
