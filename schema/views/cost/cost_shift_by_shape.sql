-- How much of the dearer rounds the shape of their batches explains: least squares over the rounds of both arms.
-- depends on: run_pairs, cost_moments

CREATE VIEW cost_shift_by_shape AS
WITH moments AS MATERIALIZED (
    SELECT * FROM cost_moments
),
pooled AS (  -- within-arm sums of squares and products of both arms: an indicator of the arm is swept out
    SELECT
        run_pairs.run_a,
        run_pairs.run_b,
        a.clock,
        a.num_rounds AS num_rounds_a,
        b.num_rounds AS num_rounds_b,
        b.mean_x1 - a.mean_x1 AS d1,
        b.mean_x2 - a.mean_x2 AS d2,
        b.mean_x3 - a.mean_x3 AS d3,
        b.mean_x4 - a.mean_x4 AS d4,
        b.mean_y - a.mean_y AS dy,
        a.mean_y AS mean_ya,
        a.x1x1 + b.x1x1 AS x1x1,
        a.x1x2 + b.x1x2 AS x1x2,
        a.x1x3 + b.x1x3 AS x1x3,
        a.x1x4 + b.x1x4 AS x1x4,
        a.x1y + b.x1y AS x1y,
        a.x2x2 + b.x2x2 AS x2x2,
        a.x2x3 + b.x2x3 AS x2x3,
        a.x2x4 + b.x2x4 AS x2x4,
        a.x2y + b.x2y AS x2y,
        a.x3x3 + b.x3x3 AS x3x3,
        a.x3x4 + b.x3x4 AS x3x4,
        a.x3y + b.x3y AS x3y,
        a.x4x4 + b.x4x4 AS x4x4,
        a.x4y + b.x4y AS x4y,
        a.yy + b.yy AS yy
    FROM run_pairs
    JOIN moments AS a ON a.run = run_pairs.run_a
    JOIN moments AS b ON b.run = run_pairs.run_b AND b.clock = a.clock
    WHERE run_pairs.is_pairable
),
-- Gaussian elimination of the normal equations; a variable that the ones before it determine is left out
swept0 AS (SELECT *, x1x1 AS whole_x1, x2x2 AS whole_x2, x3x3 AS whole_x3, x4x4 AS whole_x4, yy AS whole_y FROM pooled),
swept1 AS (
    SELECT * REPLACE (x2x2 - x1x2 * x1x2 * i1 AS x2x2,
        x2x3 - x1x2 * x1x3 * i1 AS x2x3,
        x2x4 - x1x2 * x1x4 * i1 AS x2x4,
        x2y - x1x2 * x1y * i1 AS x2y,
        x3x3 - x1x3 * x1x3 * i1 AS x3x3,
        x3x4 - x1x3 * x1x4 * i1 AS x3x4,
        x3y - x1x3 * x1y * i1 AS x3y,
        x4x4 - x1x4 * x1x4 * i1 AS x4x4,
        x4y - x1x4 * x1y * i1 AS x4y,
        yy - x1y * x1y * i1 AS yy)
    FROM (SELECT *, CASE WHEN x1x1 > 1e-9 * whole_x1 THEN 1 / x1x1 ELSE 0 END AS i1 FROM swept0)
),
swept2 AS (
    SELECT * REPLACE (x3x3 - x2x3 * x2x3 * i2 AS x3x3,
        x3x4 - x2x3 * x2x4 * i2 AS x3x4,
        x3y - x2x3 * x2y * i2 AS x3y,
        x4x4 - x2x4 * x2x4 * i2 AS x4x4,
        x4y - x2x4 * x2y * i2 AS x4y,
        yy - x2y * x2y * i2 AS yy)
    FROM (SELECT *, CASE WHEN x2x2 > 1e-9 * whole_x2 THEN 1 / x2x2 ELSE 0 END AS i2 FROM swept1)
),
swept3 AS (
    SELECT * REPLACE (x4x4 - x3x4 * x3x4 * i3 AS x4x4,
        x4y - x3x4 * x3y * i3 AS x4y,
        yy - x3y * x3y * i3 AS yy)
    FROM (SELECT *, CASE WHEN x3x3 > 1e-9 * whole_x3 THEN 1 / x3x3 ELSE 0 END AS i3 FROM swept2)
),
swept4 AS (
    SELECT * REPLACE (yy - x4y * x4y * i4 AS yy)
    FROM (SELECT *, CASE WHEN x4x4 > 1e-9 * whole_x4 THEN 1 / x4x4 ELSE 0 END AS i4 FROM swept3)
),
slopes AS (
    SELECT
        *,
        x4y * i4 AS b4,
        (x3y - x3x4 * b4) * i3 AS b3,
        (x2y - x2x3 * b3 - x2x4 * b4) * i2 AS b2,
        (x1y - x1x2 * b2 - x1x3 * b3 - x1x4 * b4) * i1 AS b1
    FROM swept4
)
SELECT
    run_a,
    run_b,
    clock,
    num_rounds_a,
    num_rounds_b,
    b1 / 1e6 AS per_row_ms,
    b2 * 1000 / 1e6 AS per_1000_tokens_ms,
    b3 * 1000 / 1e6 AS per_1000_reused_tokens_ms,
    b4 * 1e6 / 1e6 AS per_million_attention_ms,
    1 - yy / nullif(whole_y, 0) AS fit_fraction,
    num_rounds_b * dy / 1e6 AS retained_cost_ms,
    num_rounds_b * (b1 * d1 + b2 * d2 + b3 * d3 + b4 * d4) / 1e6 + 0 AS shape_cost_ms,
    num_rounds_b * (dy - (b1 * d1 + b2 * d2 + b3 * d3 + b4 * d4)) / 1e6 + 0 AS unexplained_cost_ms,
    (b1 * d1 + b2 * d2 + b3 * d3 + b4 * d4) / nullif(dy, 0) AS shape_fraction,
    (num_rounds_a - num_rounds_b) * mean_ya / 1e6 AS gross_credit_ms
FROM slopes
WHERE num_rounds_a + num_rounds_b > 6;

COMMENT ON VIEW cost_shift_by_shape IS 'One row an ordered pair of pairable runs and clock with more than 6 rounds. The cost of a round is regressed on rows, new tokens, reused tokens and attention work, with an offset for each arm; slopes times the difference of mean shapes is what the shape explains. shape_cost_ms + unexplained_cost_ms = retained_cost_ms.';
COMMENT ON COLUMN cost_shift_by_shape.run_a IS '[-] Run of the baseline.';
COMMENT ON COLUMN cost_shift_by_shape.run_b IS '[-] Run that is compared with it.';
COMMENT ON COLUMN cost_shift_by_shape.clock IS '[-] host_round, host_execute or device.';
COMMENT ON COLUMN cost_shift_by_shape.num_rounds_a IS '[rounds] Rounds of run a with cost and shape.';
COMMENT ON COLUMN cost_shift_by_shape.num_rounds_b IS '[rounds] Rounds of run b with cost and shape.';
COMMENT ON COLUMN cost_shift_by_shape.per_row_ms IS '[ms] Cost of one more row, everything else equal; 0 for a variable that the others determine.';
COMMENT ON COLUMN cost_shift_by_shape.per_1000_tokens_ms IS '[ms] Cost of 1,000 more new tokens.';
COMMENT ON COLUMN cost_shift_by_shape.per_1000_reused_tokens_ms IS '[ms] Cost of 1,000 more reused tokens.';
COMMENT ON COLUMN cost_shift_by_shape.per_million_attention_ms IS '[ms] Cost of 1,000,000 more attended token pairs.';
COMMENT ON COLUMN cost_shift_by_shape.fit_fraction IS '[fraction] Share of the variance of costs within the arms that the regression explains (R squared).';
COMMENT ON COLUMN cost_shift_by_shape.retained_cost_ms IS '[ms] What the rounds of run b cost more than the baseline''s, over these rounds; as in cost_shift when no row is missing. Formula: num_rounds_b * (mean cost b - mean cost a).';
COMMENT ON COLUMN cost_shift_by_shape.shape_cost_ms IS '[ms] The part that the shape explains. Formula: num_rounds_b * sum(slope * difference of means).';
COMMENT ON COLUMN cost_shift_by_shape.unexplained_cost_ms IS '[ms] The rest: the same batch costs more (or less) in run b. Formula: retained_cost_ms - shape_cost_ms.';
COMMENT ON COLUMN cost_shift_by_shape.shape_fraction IS '[fraction] Formula: shape_cost_ms / retained_cost_ms.';
COMMENT ON COLUMN cost_shift_by_shape.gross_credit_ms IS '[ms] Credit of the eliminated rounds, over these rounds.';
