-- Means, squares and products of cost and batch shape over the rounds of a run: what a least-squares fit needs.
-- depends on: round_costs, round_shapes
-- cached by: run

CREATE VIEW cost_moments AS
SELECT
    run,
    clock,
    count(*) AS num_rounds,
    avg(rows_used) AS mean_x1,
    avg(tokens_scheduled) AS mean_x2,
    avg(num_reused_tokens) AS mean_x3,
    avg(attention_work) AS mean_x4,
    avg(cost_ns) AS mean_y,
    count(*) * covar_pop(rows_used, rows_used) AS x1x1,
    count(*) * covar_pop(rows_used, tokens_scheduled) AS x1x2,
    count(*) * covar_pop(rows_used, num_reused_tokens) AS x1x3,
    count(*) * covar_pop(rows_used, attention_work) AS x1x4,
    count(*) * covar_pop(rows_used, cost_ns) AS x1y,
    count(*) * covar_pop(tokens_scheduled, tokens_scheduled) AS x2x2,
    count(*) * covar_pop(tokens_scheduled, num_reused_tokens) AS x2x3,
    count(*) * covar_pop(tokens_scheduled, attention_work) AS x2x4,
    count(*) * covar_pop(tokens_scheduled, cost_ns) AS x2y,
    count(*) * covar_pop(num_reused_tokens, num_reused_tokens) AS x3x3,
    count(*) * covar_pop(num_reused_tokens, attention_work) AS x3x4,
    count(*) * covar_pop(num_reused_tokens, cost_ns) AS x3y,
    count(*) * covar_pop(attention_work, attention_work) AS x4x4,
    count(*) * covar_pop(attention_work, cost_ns) AS x4y,
    count(*) * covar_pop(cost_ns, cost_ns) AS yy
FROM round_costs
JOIN round_shapes USING (run, round)
GROUP BY run, clock;

COMMENT ON VIEW cost_moments IS 'One row a run and clock, over the rounds with a cost and a shape (round_shapes).';
COMMENT ON COLUMN cost_moments.run IS '[-] Run.';
COMMENT ON COLUMN cost_moments.clock IS '[-] host_round, host_execute or device.';
COMMENT ON COLUMN cost_moments.num_rounds IS '[rounds] Rounds with a cost and a shape.';
COMMENT ON COLUMN cost_moments.mean_x1 IS '[rows] Mean rows in use of a round.';
COMMENT ON COLUMN cost_moments.mean_x2 IS '[tokens] Mean scheduled tokens of a round.';
COMMENT ON COLUMN cost_moments.mean_x3 IS '[tokens] Mean reused tokens of a round.';
COMMENT ON COLUMN cost_moments.mean_x4 IS '[token pairs] Mean attention work of a round.';
COMMENT ON COLUMN cost_moments.mean_y IS '[ns] Mean cost in ns of a round.';
COMMENT ON COLUMN cost_moments.x1x1 IS '[-] Sum of squared deviations of rows in use from their mean, in rows squared.';
COMMENT ON COLUMN cost_moments.x1x2 IS '[-] Sum of products of the deviations of rows in use and scheduled tokens from their means, in rows x tokens.';
COMMENT ON COLUMN cost_moments.x1x3 IS '[-] Sum of products of the deviations of rows in use and reused tokens from their means, in rows x tokens.';
COMMENT ON COLUMN cost_moments.x1x4 IS '[-] Sum of products of the deviations of rows in use and attention work from their means, in rows x token pairs.';
COMMENT ON COLUMN cost_moments.x1y IS '[-] Sum of products of the deviations of rows in use and the cost from their means, in rows x ns.';
COMMENT ON COLUMN cost_moments.x2x2 IS '[-] Sum of squared deviations of scheduled tokens from their mean, in tokens squared.';
COMMENT ON COLUMN cost_moments.x2x3 IS '[-] Sum of products of the deviations of scheduled tokens and reused tokens from their means, in tokens squared.';
COMMENT ON COLUMN cost_moments.x2x4 IS '[-] Sum of products of the deviations of scheduled tokens and attention work from their means, in tokens x token pairs.';
COMMENT ON COLUMN cost_moments.x2y IS '[-] Sum of products of the deviations of scheduled tokens and the cost from their means, in tokens x ns.';
COMMENT ON COLUMN cost_moments.x3x3 IS '[-] Sum of squared deviations of reused tokens from their mean, in tokens squared.';
COMMENT ON COLUMN cost_moments.x3x4 IS '[-] Sum of products of the deviations of reused tokens and attention work from their means, in tokens x token pairs.';
COMMENT ON COLUMN cost_moments.x3y IS '[-] Sum of products of the deviations of reused tokens and the cost from their means, in tokens x ns.';
COMMENT ON COLUMN cost_moments.x4x4 IS '[-] Sum of squared deviations of attention work from their mean, in token pairs squared.';
COMMENT ON COLUMN cost_moments.x4y IS '[-] Sum of products of the deviations of attention work and the cost from their means, in token pairs x ns.';
COMMENT ON COLUMN cost_moments.yy IS '[-] Sum of squared deviations of the cost from its mean, in ns squared.';
