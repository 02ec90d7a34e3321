-- What the rounds of each run add up to: how many, how long, and how many of them are bubbles.
-- depends on: runs, round_ends
--
-- The same of a window: ask where round_ends is a temporary view of the rounds in it (app/queries/windowed.py).

CREATE VIEW bubble_totals AS
WITH sums AS (
    SELECT
        run,
        count(*) AS num_rounds,
        sum(row_capacity - rows_no_work)::BIGINT AS num_slots_with_work,
        sum(rows_avoidable)::BIGINT AS rows_avoidable,
        sum(tokens_avoidable)::BIGINT AS tokens_avoidable,
        count(*) FILTER (rows_avoidable > 0) AS num_bubble_rounds,
        max(end_ms) - min(start_ms) AS duration_ms
    FROM round_ends
    GROUP BY run
)
SELECT
    runs.run,
    runs.label,
    coalesce(sums.num_rounds, 0) AS num_rounds,
    coalesce(sums.num_slots_with_work, 0) AS num_slots_with_work,
    -- without a probe that looks behind the stops: unknown, not 0
    CASE WHEN runs.probe <> 'off' THEN coalesce(sums.rows_avoidable, 0) END AS rows_avoidable,
    CASE WHEN runs.probe <> 'off' THEN coalesce(sums.tokens_avoidable, 0) END AS tokens_avoidable,
    CASE WHEN runs.probe <> 'off' THEN coalesce(sums.num_bubble_rounds, 0) END AS num_bubble_rounds,
    CASE WHEN runs.probe <> 'off' THEN sums.num_bubble_rounds / nullif(sums.num_rounds, 0) END AS bubble_round_fraction,
    CASE WHEN runs.probe <> 'off' THEN sums.rows_avoidable / nullif(sums.num_rounds, 0) END AS avoidable_rows_per_round,
    sums.duration_ms
FROM runs
LEFT JOIN sums ON sums.run = runs.run;

COMMENT ON VIEW bubble_totals IS 'One row a run, over the rounds that are there: of a run that keeps a sample of its rounds, the kept ones.';
COMMENT ON COLUMN bubble_totals.run IS '[-] Run.';
COMMENT ON COLUMN bubble_totals.label IS '[-] Name of the run.';
COMMENT ON COLUMN bubble_totals.num_rounds IS '[rounds] Rounds.';
COMMENT ON COLUMN bubble_totals.num_slots_with_work IS '[rows] Row slots in use, or empty although work had arrived. Formula: sum(row_capacity - rows_no_work).';
COMMENT ON COLUMN bubble_totals.rows_avoidable IS '[rows] Unused rows for which a READY request waited behind the stop of the scan; NULL when the probe was off.';
COMMENT ON COLUMN bubble_totals.tokens_avoidable IS '[tokens] Tokens that those READY requests would have taken; NULL when the probe was off.';
COMMENT ON COLUMN bubble_totals.num_bubble_rounds IS '[rounds] Rounds with at least one avoidable row; NULL when the probe was off.';
COMMENT ON COLUMN bubble_totals.bubble_round_fraction IS '[fraction] Share of the rounds with an avoidable row; NULL when the probe was off. Formula: num_bubble_rounds / num_rounds.';
COMMENT ON COLUMN bubble_totals.avoidable_rows_per_round IS '[rows] Mean avoidable rows a round; NULL when the probe was off. Formula: rows_avoidable / num_rounds.';
COMMENT ON COLUMN bubble_totals.duration_ms IS '[ms] From the start of the first round to the end of the last; NULL without rounds.';
