-- What the prefix cache gave, whole run and by dataset, and what was refused for want of a ready state.
-- depends on: runs, request_lives, visits
-- cached by: run

CREATE VIEW reuse_summary AS
WITH first_refusals AS (  -- a request is refused many times over the same tokens: its first refusal counts
    SELECT run, request, arg_min(matched_tokens, round) AS matched_tokens, arg_min(ready_tokens, round) AS ready_tokens
    FROM visits
    WHERE outcome = 'blocked' AND witness = 'native' AND matched_tokens IS NOT NULL
    GROUP BY run, request
)
SELECT
    runs.run,
    any_value(runs.label) AS label,
    lives.dataset,
    count(*) AS num_requests,
    sum(lives.num_prompt_tokens)::BIGINT AS num_prompt_tokens,
    sum(lives.num_reused_tokens)::BIGINT AS num_reused_tokens,
    sum(lives.num_reused_tokens) / nullif(sum(lives.num_prompt_tokens), 0) AS reused_fraction,
    -- of a sample, the first refusal may not be kept
    CASE WHEN any_value(runs.sampled_fraction) IS NULL THEN count(first_refusals.request) END AS num_refused_requests,
    CASE WHEN any_value(runs.sampled_fraction) IS NULL THEN sum(first_refusals.matched_tokens)::BIGINT END AS num_matched_tokens,
    CASE WHEN any_value(runs.sampled_fraction) IS NULL THEN sum(first_refusals.ready_tokens)::BIGINT END AS num_ready_tokens,
    CASE WHEN any_value(runs.sampled_fraction) IS NULL THEN sum(first_refusals.matched_tokens - first_refusals.ready_tokens)::BIGINT END
        AS num_unready_tokens,
    CASE
        WHEN any_value(runs.sampled_fraction) IS NULL
            THEN sum(lives.num_reused_tokens) FILTER (first_refusals.request IS NOT NULL)::BIGINT
    END AS num_tokens_reused_after_refusal
FROM runs
JOIN request_lives AS lives USING (run)
LEFT JOIN first_refusals ON first_refusals.run = lives.run AND first_refusals.request = lives.request
WHERE lives.num_reused_tokens IS NOT NULL
GROUP BY GROUPING SETS ((runs.run), (runs.run, lives.dataset))
HAVING grouping(lives.dataset) = 1 OR lives.dataset IS NOT NULL;

COMMENT ON VIEW reuse_summary IS 'One row a run, and one more a dataset, over the requests that were selected.';
COMMENT ON COLUMN reuse_summary.run IS '[-] Run.';
COMMENT ON COLUMN reuse_summary.label IS '[-] Name of the run.';
COMMENT ON COLUMN reuse_summary.dataset IS '[-] Dataset that the row is restricted to; NULL for all of them.';
COMMENT ON COLUMN reuse_summary.num_requests IS '[requests] Requests selected at least once.';
COMMENT ON COLUMN reuse_summary.num_prompt_tokens IS '[tokens] Their prompt tokens.';
COMMENT ON COLUMN reuse_summary.num_reused_tokens IS '[tokens] Of these, taken from the prefix cache at the first selection.';
COMMENT ON COLUMN reuse_summary.reused_fraction IS '[fraction] Formula: num_reused_tokens / num_prompt_tokens.';
COMMENT ON COLUMN reuse_summary.num_refused_requests IS '[requests] Of these requests, those refused at least once for their recurrent state.';
COMMENT ON COLUMN reuse_summary.num_matched_tokens IS '[tokens] Longest token match of those, at their first refusal.';
COMMENT ON COLUMN reuse_summary.num_ready_tokens IS '[tokens] What of the match was ready at that moment.';
COMMENT ON COLUMN reuse_summary.num_unready_tokens IS '[tokens] Cached tokens whose state was not ready at the first refusal. Formula: num_matched_tokens - num_ready_tokens.';
COMMENT ON COLUMN reuse_summary.num_tokens_reused_after_refusal IS '[tokens] What those requests reused when they were selected at last: close to num_matched_tokens when waiting paid.';
