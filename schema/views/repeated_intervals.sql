-- Work done more than once: prompt intervals that were computed before.
-- depends on: rows, requests, runs

CREATE VIEW repeated_intervals AS
WITH own AS (  -- only requests that were preempted can compute an interval of their own again
    SELECT
        rows.run, rows.round, rows.slot, rows.request, requests.request_id, requests.num_prompt_tokens,
        rows.first_token, rows.first_token + rows.num_tokens AS end_token,
        max(rows.first_token + rows.num_tokens) OVER (
            PARTITION BY rows.run, rows.request ORDER BY rows.round ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS computed_end
    FROM rows
    JOIN requests ON requests.run = rows.run AND requests.request = rows.request
    WHERE requests.num_preemptions > 0 OR requests.num_repeated_tokens > 0
),
publishers AS (
    SELECT
        run, round, slot, request, published_hash, first_token, first_token + num_tokens AS end_token,
        row_number() OVER (PARTITION BY run, published_hash ORDER BY round, slot) AS place,
        first_value(round) OVER same_state AS first_round,
        first_value(request) OVER same_state AS first_request,
        first_value(first_token) OVER same_state AS first_start,
        first_value(first_token + num_tokens) OVER same_state AS first_end
    FROM rows
    WHERE published_hash IS NOT NULL
    WINDOW same_state AS (PARTITION BY run, published_hash ORDER BY round, slot)
    QUALIFY place > 1 AND request <> first_request
),
shared AS (  -- equal hashes mean equal tokens up to the block boundary that both rows reach
    SELECT
        publishers.*,
        greatest(first_token, first_start) AS begin_token,
        least(end_token, first_end) // runs.block_size * runs.block_size AS boundary
    FROM publishers
    JOIN runs USING (run)
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
    shared.run,
    CASE WHEN shared.round = shared.first_round THEN 'side_by_side' ELSE 'computed_before' END AS cause,
    shared.round,
    again.request_id,
    first_one.request_id AS first_request_id,
    shared.first_round,
    shared.begin_token,
    shared.boundary AS end_token,
    shared.boundary - shared.begin_token AS num_tokens,
    shared.boundary - shared.begin_token AS num_prompt_tokens
FROM shared
LEFT JOIN requests AS again ON again.run = shared.run AND again.request = shared.request
LEFT JOIN requests AS first_one ON first_one.run = shared.run AND first_one.request = shared.first_request
WHERE shared.boundary > shared.begin_token;

COMMENT ON VIEW repeated_intervals IS 'One row an interval that was computed again: by the same request after a preemption, or by another one that publishes a state of the same hash. Content without a published state is not seen, so the second kind is a lower bound.';
COMMENT ON COLUMN repeated_intervals.run IS '[-] Run.';
COMMENT ON COLUMN repeated_intervals.cause IS '[-] preemption; side_by_side (both requests computed it in one round); computed_before (the state was computed in an earlier round and was not there any more, or not found).';
COMMENT ON COLUMN repeated_intervals.round IS '[-] Round that computed it again.';
COMMENT ON COLUMN repeated_intervals.request_id IS '[-] Request that computed it again.';
COMMENT ON COLUMN repeated_intervals.first_request_id IS '[-] Request that had computed it before: itself after a preemption.';
COMMENT ON COLUMN repeated_intervals.first_round IS '[-] Round that first published the state; NULL for a preemption.';
COMMENT ON COLUMN repeated_intervals.begin_token IS '[tokens] First position of the interval in the prompt.';
COMMENT ON COLUMN repeated_intervals.end_token IS '[tokens] Position after its last token.';
COMMENT ON COLUMN repeated_intervals.num_tokens IS '[tokens] Formula: end_token - begin_token.';
COMMENT ON COLUMN repeated_intervals.num_prompt_tokens IS '[tokens] Of those, prompt tokens.';
