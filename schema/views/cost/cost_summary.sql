-- Cost a round and cost a token, on each clock.
-- depends on: runs, rounds, round_costs
-- cached by: run

CREATE VIEW cost_summary AS
WITH costs AS (
    SELECT
        round_costs.run,
        round_costs.clock,
        count(*) AS num_rounds,
        sum(rounds.tokens_scheduled)::BIGINT AS num_tokens,
        sum(cost_ns) / 1e6 AS total_ms,
        avg(cost_ns) / 1e6 AS mean_ms,
        quantile_cont(cost_ns, 0.5) / 1e6 AS median_ms
    FROM round_costs
    JOIN rounds USING (run, round)
    GROUP BY round_costs.run, round_costs.clock
),
counts AS (
    SELECT run, count(*) AS num_rounds FROM rounds GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    costs.clock,
    CASE WHEN runs.sampled_fraction IS NULL THEN costs.num_rounds END AS num_rounds,
    CASE WHEN runs.sampled_fraction IS NULL THEN counts.num_rounds - costs.num_rounds END AS num_rounds_unmeasured,
    CASE WHEN runs.sampled_fraction IS NULL THEN costs.num_tokens END AS num_tokens,
    CASE WHEN runs.sampled_fraction IS NULL THEN costs.total_ms END AS total_ms,
    costs.mean_ms,
    costs.median_ms,
    costs.total_ms / nullif(costs.num_tokens, 0) * 1000 AS per_1000_tokens_ms
FROM runs
JOIN counts USING (run)
JOIN costs USING (run);

COMMENT ON VIEW cost_summary IS 'One row a run and clock that measured rounds of it.';
COMMENT ON COLUMN cost_summary.run IS '[-] Run.';
COMMENT ON COLUMN cost_summary.label IS '[-] Name of the run.';
COMMENT ON COLUMN cost_summary.clock IS '[-] host_round, host_execute or device, as in round_costs.';
COMMENT ON COLUMN cost_summary.num_rounds IS '[rounds] Rounds measured by the clock.';
COMMENT ON COLUMN cost_summary.num_rounds_unmeasured IS '[rounds] Rounds that it missed; totals leave them out.';
COMMENT ON COLUMN cost_summary.num_tokens IS '[tokens] Tokens scheduled in the measured rounds.';
COMMENT ON COLUMN cost_summary.total_ms IS '[ms] Sum over the measured rounds.';
COMMENT ON COLUMN cost_summary.mean_ms IS '[ms] Mean cost of a round. Formula: total_ms / num_rounds.';
COMMENT ON COLUMN cost_summary.median_ms IS '[ms] Median cost of a round.';
COMMENT ON COLUMN cost_summary.per_1000_tokens_ms IS '[ms] Cost of 1,000 scheduled tokens. Formula: 1000 * total_ms / num_tokens.';
