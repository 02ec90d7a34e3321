-- How many rounds were how full.
-- depends on: rounds, runs
-- cached by: run

CREATE VIEW fullness_distribution AS
WITH levels AS (
    SELECT run, row_capacity, 'rows' AS measure, rows_used AS level, rows_used / nullif(row_capacity, 0) AS filled
    FROM rounds
    UNION ALL
    SELECT
        run,
        row_capacity,
        'tokens' AS measure,
        -- twentieths of the budget; a full one counts to the last
        least(19, 20 * tokens_scheduled // nullif(token_budget, 0)) AS level,
        least(19, 20 * tokens_scheduled // nullif(token_budget, 0)) / 20 AS filled
    FROM rounds
)
SELECT
    levels.run,
    measure,
    level::INTEGER AS level,
    min(filled) AS filled_fraction,
    max(levels.row_capacity) AS row_capacity,
    CASE WHEN any_value(runs.sampled_fraction) IS NULL THEN count(*) END AS num_rounds,
    count(*) AS num_rounds_kept,
    count(*) / sum(count(*)) OVER (PARTITION BY levels.run, measure) AS rounds_fraction
FROM levels
JOIN runs ON runs.run = levels.run
GROUP BY levels.run, measure, level;

COMMENT ON VIEW fullness_distribution IS 'One row a run, measure and level of fullness that occurs: rows by their number, tokens by twentieths of the budget.';
COMMENT ON COLUMN fullness_distribution.run IS '[-] Run.';
COMMENT ON COLUMN fullness_distribution.measure IS '[-] rows or tokens.';
COMMENT ON COLUMN fullness_distribution.level IS '[-] Rows in use; or the twentieth of the token budget that was reached, from 0 to 19.';
COMMENT ON COLUMN fullness_distribution.filled_fraction IS '[fraction] Share of the capacity at that level: exact for rows, the lower end of the twentieth for tokens.';
COMMENT ON COLUMN fullness_distribution.row_capacity IS '[rows] Rows that such a round may hold.';
COMMENT ON COLUMN fullness_distribution.num_rounds IS '[rounds] Rounds at that level; NULL where the run keeps a sample of its rounds.';
COMMENT ON COLUMN fullness_distribution.num_rounds_kept IS '[rounds] Rounds at that level among those that the run keeps.';
COMMENT ON COLUMN fullness_distribution.rounds_fraction IS '[fraction] Share of the rounds of the run.';
