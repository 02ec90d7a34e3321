-- How many tokens of each run were computed again, and why.
-- depends on: runs, repeated_intervals
-- cached by: run

CREATE VIEW repeated_tokens AS
SELECT
    runs.run,
    any_value(runs.label) AS label,
    repeated.cause,
    count(*) AS num_intervals,
    count(DISTINCT repeated.request_id) AS num_requests,
    sum(repeated.num_tokens)::BIGINT AS num_tokens
FROM repeated_intervals AS repeated
JOIN runs USING (run)
GROUP BY runs.run, repeated.cause;

COMMENT ON VIEW repeated_tokens IS 'One row a run and cause of repeated_intervals, over all requests; the token ledger counts finished ones alone.';
COMMENT ON COLUMN repeated_tokens.run IS '[-] Run.';
COMMENT ON COLUMN repeated_tokens.label IS '[-] Name of the run.';
COMMENT ON COLUMN repeated_tokens.cause IS '[-] preemption, side_by_side or computed_before, as in repeated_intervals.';
COMMENT ON COLUMN repeated_tokens.num_intervals IS '[intervals] Intervals that were computed again.';
COMMENT ON COLUMN repeated_tokens.num_requests IS '[requests] Requests that computed one again.';
COMMENT ON COLUMN repeated_tokens.num_tokens IS '[tokens] Tokens of those intervals.';
