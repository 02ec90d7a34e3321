-- Work done more than once: prompt intervals that were computed before.
-- depends on: rows, requests, repeated_blocks, runs

CREATE VIEW repeated_intervals AS
WITH whole AS (  -- of a sample, the row that computed the interval first may not be kept
    SELECT run FROM runs WHERE sampled_fraction IS NULL
),
own AS (  -- only requests that were preempted can compute an interval of their own again
    SELECT
        rows.run, rows.round, rows.slot, rows.request, requests.request_id, requests.num_prompt_tokens,
        rows.first_token, rows.first_token + rows.num_tokens AS end_token,
        max(rows.first_token + rows.num_tokens) OVER (
            PARTITION BY rows.run, rows.request ORDER BY rows.round ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS computed_end
    FROM rows
    JOIN requests ON requests.run = rows.run AND requests.request = rows.request
    JOIN whole ON whole.run = rows.run
    WHERE requests.num_preemptions > 0 OR requests.num_repeated_tokens > 0
)
SELECT
    run,
    'preemption' AS cause,
    round,
    request_id,
    request_id AS first_request_id,
    NULL::BIGINT AS first_round,
    first_token AS begin_token,
    least(end_token, computed_end) AS end_token,
    least(end_token, computed_end) - first_token AS num_tokens,
    greatest(0, least(end_token, computed_end, num_prompt_tokens) - first_token) AS num_prompt_tokens
FROM own
WHERE first_token < computed_end
UNION ALL
SELECT
    repeated_blocks.run,
    CASE WHEN repeated_blocks.round = repeated_blocks.first_round THEN 'side_by_side' ELSE 'computed_before' END AS cause,
    repeated_blocks.round,
    again.request_id,
    first_one.request_id AS first_request_id,
    repeated_blocks.first_round,
    repeated_blocks.begin_token,
    repeated_blocks.end_token,
    repeated_blocks.end_token - repeated_blocks.begin_token AS num_tokens,
    greatest(0, least(repeated_blocks.end_token, again.num_prompt_tokens) - repeated_blocks.begin_token)
        AS num_prompt_tokens
FROM repeated_blocks
LEFT JOIN requests AS again ON again.run = repeated_blocks.run AND again.request = repeated_blocks.request
LEFT JOIN requests AS first_one
    ON first_one.run = repeated_blocks.run AND first_one.request = repeated_blocks.first_request;

COMMENT ON VIEW repeated_intervals IS 'One row an interval that was computed again: by the same request after a preemption, to the token; or by another one with the same content, in whole blocks of hash_block_size tokens. Of runs that keep a sample of their rounds the first kind is left out.';
COMMENT ON COLUMN repeated_intervals.run IS '[-] Run.';
COMMENT ON COLUMN repeated_intervals.cause IS '[-] preemption; side_by_side (both requests computed it in one round); computed_before (an earlier round had computed it; it was evicted, or not to be used yet).';
COMMENT ON COLUMN repeated_intervals.round IS '[-] Round that computed it again.';
COMMENT ON COLUMN repeated_intervals.request_id IS '[-] Request that computed it again.';
COMMENT ON COLUMN repeated_intervals.first_request_id IS '[-] Request that had computed it before: itself after a preemption.';
COMMENT ON COLUMN repeated_intervals.first_round IS '[-] Round that first computed it; NULL for a preemption.';
COMMENT ON COLUMN repeated_intervals.begin_token IS '[tokens] First position of the interval in the prompt.';
COMMENT ON COLUMN repeated_intervals.end_token IS '[tokens] Position after its last token.';
COMMENT ON COLUMN repeated_intervals.num_tokens IS '[tokens] Formula: end_token - begin_token.';
COMMENT ON COLUMN repeated_intervals.num_prompt_tokens IS '[tokens] Of those, prompt tokens.';
