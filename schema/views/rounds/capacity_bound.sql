-- The least rounds that rows and token budget allow for the work a run actually did.
-- depends on: runs, rounds
-- cached by: run

CREATE VIEW capacity_bound AS
WITH work AS (
    SELECT
        run,
        count(*) AS num_rounds,
        sum(rows_used)::BIGINT AS num_rows,
        sum(tokens_scheduled)::BIGINT AS num_tokens,
        max(row_capacity) AS row_capacity,
        max(token_budget) AS token_budget
    FROM rounds
    GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    runs.stream,
    num_rounds,
    num_rows,
    num_tokens,
    ceil(num_rows / nullif(work.row_capacity, 0))::BIGINT AS num_rounds_for_rows,
    ceil(num_tokens / nullif(work.token_budget, 0))::BIGINT AS num_rounds_for_tokens,
    greatest(num_rounds_for_rows, num_rounds_for_tokens) AS least_rounds,
    num_rounds / nullif(greatest(num_rounds_for_rows, num_rounds_for_tokens), 0) AS rounds_per_least_round
FROM work
JOIN runs USING (run)
WHERE runs.sampled_fraction IS NULL;

COMMENT ON VIEW capacity_bound IS 'One row a run with rounds. The bound is policy-specific (another policy splits prompts into other rows) and not attainable in general: it knows no arrival, no dependency and no block.';
COMMENT ON COLUMN capacity_bound.run IS '[-] Run.';
COMMENT ON COLUMN capacity_bound.label IS '[-] Name of the run.';
COMMENT ON COLUMN capacity_bound.stream IS '[-] Stream that was offered.';
COMMENT ON COLUMN capacity_bound.num_rounds IS '[rounds] Rounds of the run.';
COMMENT ON COLUMN capacity_bound.num_rows IS '[rows] Rows that the run scheduled in all.';
COMMENT ON COLUMN capacity_bound.num_tokens IS '[tokens] Tokens that it scheduled in all.';
COMMENT ON COLUMN capacity_bound.num_rounds_for_rows IS '[rounds] Formula: ceil(num_rows / row_capacity).';
COMMENT ON COLUMN capacity_bound.num_rounds_for_tokens IS '[rounds] Formula: ceil(num_tokens / token_budget).';
COMMENT ON COLUMN capacity_bound.least_rounds IS '[rounds] Capacity bound. Formula: greatest(num_rounds_for_rows, num_rounds_for_tokens).';
COMMENT ON COLUMN capacity_bound.rounds_per_least_round IS '[ratio] How far the run is from it, 1 being at it. Formula: num_rounds / least_rounds.';
