-- Cost a round and cost a token, on each clock.
-- depends on: runs, rounds, round_costs

CREATE VIEW cost_summary AS
SELECT
    runs.run,
    any_value(runs.label) AS label,
    round_costs.clock,
    count(*) AS num_rounds,
    any_value(counted.num_rounds) - count(*) AS num_rounds_unmeasured,
    sum(rounds.tokens_scheduled)::BIGINT AS num_tokens,
    sum(cost_ns) / 1e6 AS total_ms,
    avg(cost_ns) / 1e6 AS mean_ms,
    quantile_cont(cost_ns, 0.5) / 1e6 AS median_ms,
    sum(cost_ns) / 1e6 / nullif(sum(rounds.tokens_scheduled), 0) * 1000 AS per_1000_tokens_ms
FROM runs
JOIN (SELECT run, count(*) AS num_rounds FROM rounds GROUP BY run) AS counted USING (run)
JOIN round_costs USING (run)
JOIN rounds ON rounds.run = round_costs.run AND rounds.round = round_costs.round
GROUP BY runs.run, round_costs.clock;

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
